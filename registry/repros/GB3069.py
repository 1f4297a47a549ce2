"""A custom operator is defined and called in the same compiled function. When
Dynamo comes to the call, the operator's fake version is not registered yet,
so the shape of the result is unknown."""
import torch

REQUIRES = {"release": ">=2.14"}


@torch.library.custom_op("gb3069::double", mutates_args=())
def double_op(x: torch.Tensor) -> torch.Tensor:
    return x * 2


double_op.register_fake(torch.empty_like)


def inputs():
    return (torch.randn(8),)


def broken(x):
    @torch.library.custom_op("gb3069::twice", mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @twice.register_fake
    def _(x):
        return torch.empty_like(x)

    return twice(x).sin()


def fixed(x):
    """Use this when you write a custom operator. Define it once, outside of
    the compiled function."""
    return double_op(x).sin()
