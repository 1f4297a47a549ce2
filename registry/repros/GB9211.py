"""A mask selects the distributions that count, and `kl_divergence` broadcasts
their shape. How many there are is known only when the graph runs, and Dynamo
can't broadcast an unknown size there."""
import torch
from torch.distributions import MultivariateNormal, kl_divergence

REACH = "config"
REQUIRES = {"release": ">=2.15"}
CONFIG = {"capture_dynamic_output_shape_ops": True}


def normal(mean):
    tril = torch.eye(3, device=mean.device)
    tril = tril.expand(*mean.shape, 3)
    return MultivariateNormal(mean, scale_tril=tril, validate_args=False)


def inputs():
    keep = torch.arange(8) < torch.randint(2, 8, ())
    return torch.randn(8, 3), torch.randn(8, 3), keep


def broken(p, q, keep):
    return kl_divergence(normal(p[keep]), normal(q[keep])).mean()


def fixed(p, q, keep):
    """Use this when you may compute all of them. Select from the result, not
    from the distributions: then their number is known. Put zeros where you
    don't select, or a NaN there would reach the gradient."""
    p = torch.where(keep[:, None], p, 0)
    q = torch.where(keep[:, None], q, 0)
    return kl_divergence(normal(p), normal(q))[keep].mean()
