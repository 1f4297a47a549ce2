"""A layer seeds torch in each call, so that its backward can repeat the same
dropout. Dynamo doesn't trace `torch.manual_seed`. With `fullgraph=True` that is
an error, else a graph break."""
import torch


def layer(x, seed):
    torch.manual_seed(seed)
    return torch.nn.functional.dropout(x.sin(), 0.5)


@torch.library.custom_op("gb0007_seed::draw_mask", mutates_args=())
def draw_mask(like: torch.Tensor, seed: int, p: float) -> torch.Tensor:
    generator = torch.Generator(like.device).manual_seed(seed)
    mask = torch.empty_like(like).bernoulli_(1 - p, generator=generator)
    return mask / (1 - p)


draw_mask.register_fake(lambda like, seed, p: torch.empty_like(like))


def call(function):
    x = torch.arange(32.0, requires_grad=True)
    result = function(x, 7)
    return result.detach(), torch.autograd.grad(result.sum(), x)


def message():
    return call(torch.compile(layer, backend="eager", fullgraph=True))


def fixed():
    """Use this when the layer must seed in each call: an operator of your own
    draws the mask with a generator that it seeds. The same seed gives the same
    mask again."""

    def masked_layer(x, seed):
        y = x.sin()
        return y * draw_mask(y.detach(), seed, 0.5)

    return call(torch.compile(masked_layer, backend="eager", fullgraph=True))


def fixed_before():
    """Use this when one seed is enough: seed before you call the compiled
    function."""

    def plain_layer(x, seed):
        return torch.nn.functional.dropout(x.sin(), 0.5)

    compiled = torch.compile(plain_layer, backend="eager", fullgraph=True)
    torch.manual_seed(7)
    return call(compiled)


def eager():
    return call(layer)
