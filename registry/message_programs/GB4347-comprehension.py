"""Up to Python 3.11, a comprehension is a function of its own. If the function
around it runs without torch.compile because of another break, Dynamo compiles
the comprehension alone, and there the iterator comes from outside."""
import torch

ENVIRONMENT = {"TORCH_LOGS": "graph_breaks"}
SCALES = {"low": 1.0, "high": 2.0}


def scale(x):
    for step in range(2):
        if x.sum() > 0:  # the break that ends the function
            x = x + step
    return [x * SCALES[name] for name in SCALES]


def message():
    return torch.compile(scale, backend="eager")(torch.ones(4))


def fixed():
    """Use this when you can fix the break that ended the function: then Dynamo
    traces the comprehension with it."""

    def whole_scale(x):
        for step in range(2):
            x = torch.where(x.sum() > 0, x + step, x)
        return [x * SCALES[name] for name in SCALES]

    compiled = torch.compile(whole_scale, backend="eager", fullgraph=True)
    return compiled(torch.ones(4))


def fixed_loop():
    """Use this when the first break must stay: a `for` loop is no function of
    its own, so this second break goes."""

    def loop_scale(x):
        for step in range(2):
            if x.sum() > 0:
                x = x + step
        scaled = []
        for name in SCALES:
            scaled.append(x * SCALES[name])
        return scaled

    return torch.compile(loop_scale, backend="eager")(torch.ones(4))


def eager():
    return scale(torch.ones(4))
