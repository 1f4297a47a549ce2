"""`manual_seed` resets a `torch.Generator`. That changes a state outside the
graph, so Dynamo leaves it to Python."""
import torch

OPAQUE = {
    "fixed": "Only the drawing is in the operator: a graph can't seed a "
    "generator of your own.",
}

REQUIRES = {"device": "cpu"}
EFFECTS = {
    "fixed": "It has a generator of its own. That of the program stays as it was."
}
GENERATOR = torch.Generator()


@torch.library.custom_op("gb7650::noise", mutates_args=())
def noise(size: int, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(size, generator=generator)


noise.register_fake(lambda size, seed: torch.empty(size))


def inputs():
    return (torch.randn(8),)


def broken(x):
    GENERATOR.manual_seed(0)
    return x + torch.randn(8, generator=GENERATOR)


def fixed(x):
    """Use this when you want the same noise in every call. Put seeding and
    drawing together into a custom operator, with a generator of its own."""
    return x + noise(8, 0)
