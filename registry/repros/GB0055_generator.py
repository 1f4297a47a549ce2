"""A random function is called with a `torch.Generator` of its own. You meet
this in diffusion models and in samplers that must be repeatable."""
import torch

OPAQUE = {
    "fixed_custom_op": "Only the drawing is in the operator: a graph can't use a "
    "generator of your own.",
}

TITLE = "generator=..."

GENERATOR = torch.Generator()


@torch.library.custom_op(
    "gb0055::noise", mutates_args=(), tags=(torch.Tag.nondeterministic_seeded,)
)
def noise_op(x: torch.Tensor) -> torch.Tensor:
    return torch.randn(x.shape, generator=GENERATOR, device="cpu").to(x)


noise_op.register_fake(torch.empty_like)
noise_op.register_autograd(lambda ctx, grad: None)


def inputs():
    GENERATOR.manual_seed(0)
    return (torch.randn(8),)


def broken(x):
    noise = torch.randn(x.shape, generator=GENERATOR, device="cpu")
    return x.cos() + noise.to(x)


def fixed_custom_op(x):
    """Use this when the numbers must come from this generator. Draw them in a
    custom operator, or draw them before the call and pass them in. The tag
    tells the compiler not to merge two calls."""
    return x.cos() + noise_op(x)
