"""The number that `.item()` returns only decides an `if`. The flag
`capture_scalar_outputs` doesn't help: the graph then ends at the `if`."""
import torch

ENVIRONMENT = {"TORCH_LOGS": "graph_breaks"}


class Layer(torch.nn.Module):
    def forward(self, x, masked):
        return x.sin() if masked else x.cos()


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([Layer(), Layer()])

    def forward(self, x):
        masked = (x < 0).any().item()
        for layer in self.layers:
            x = layer(x, masked)
        return x


X = torch.arange(-3.0, 3.0)


def message():
    return torch.compile(Model(), backend="eager")(X)


def fixed():
    """Use this when the rest takes the number as an argument: compile the parts
    that take it, such as the layers, and not the model around them."""
    model = Model()
    for layer in model.layers:
        layer.compile(backend="eager", fullgraph=True)
    return model(X)


def fixed_argument():
    """Use this when you know the answer earlier: compute it before you call the
    compiled function, and pass it in."""

    def run_layers(x, masked):
        for layer in Model().layers:
            x = layer(x, masked)
        return x

    compiled = torch.compile(run_layers, backend="eager", fullgraph=True)
    return compiled(X, (X < 0).any().item())


def fixed_cond():
    """Use this when the branches return tensors of the same shape: leave the
    condition a tensor, and let `torch.cond` choose."""

    def choose(x):
        masked = (x < 0).any()
        for _ in range(2):
            x = torch.cond(masked, torch.sin, torch.cos, (x,))
        return x

    return torch.compile(choose, backend="eager", fullgraph=True)(X)


def eager():
    return Model()(X)
