"""An operator answers with a Python value that depends on the data, such as
`True` from `torch.equal`. While Dynamo traces there are no data, so it has no
answer."""
import torch

OPAQUE = {
    "fixed_custom_op": "Only the question that no operator of torch answers is in the "
    "operator; the rest stays in the graph.",
}

TITLE = "torch.equal"


@torch.library.custom_op("gb0033::same", mutates_args=())
def same_op(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.tensor(torch.equal(x, y), device=x.device)


same_op.register_fake(lambda x, y: x.new_empty((), dtype=torch.bool))


def inputs():
    x = torch.randn(4)
    return x, x.clamp(-1.2, 1.2)


def broken(x, y):
    if torch.equal(x, y):
        return x * 10
    return x - y


def fixed(x, y):
    """Use this when the shapes are the same. Compare into a tensor, and select
    with `torch.where`."""
    same = (x == y).all()
    return torch.where(same, x * 10, x - y)


def fixed_custom_op(x, y):
    """Use this when no operator of torch does what you need. Write a custom
    operator that returns a tensor. There is nothing to differentiate here, so
    it needs no autograd."""
    return torch.where(same_op(x, y), x * 10, x - y)
