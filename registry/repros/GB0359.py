"""`SDPAParams` describes one call of scaled dot product attention. It has no
attribute `scale`, so reading that is an error in eager mode too."""
import torch

EAGER_RAISES = "AttributeError"

qkv = torch.ones(1, 1, 2, 4)
params = torch.backends.cuda.SDPAParams(qkv, qkv, qkv, None, 0.0, False, False)


def inputs():
    return (torch.randn(4),)


def broken(x):
    return params.query * params.scale + x


def fixed(x):
    """Use this when you want the default scale. Compute it from the size of
    the query."""
    return params.query * params.query.shape[-1] ** -0.5 + x
