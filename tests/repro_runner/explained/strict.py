"""Every way to ask for one whole graph; each breaks. What fails is caught, so that all of it is tried."""

import torch


def first(x: torch.Tensor) -> torch.Tensor:
    y = x + 1
    torch._dynamo.graph_break()
    y = y * 2
    torch._dynamo.graph_break()
    return y


@torch.compile(backend="eager", fullgraph=True)
def second(x: torch.Tensor) -> torch.Tensor:
    print("second")
    return x + 1


class Third(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        torch._dynamo.graph_break()
        return x + 1


def fourth(x: torch.Tensor) -> torch.Tensor:
    with torch._dynamo.error_on_graph_break(True):
        x = x + 1
        torch._dynamo.graph_break()
        return x * 2


def fifth(x: torch.Tensor) -> torch.Tensor:
    torch._dynamo.graph_break()
    return x + 2


third = Third()
third.compile(backend="eager", fullgraph=True)
failed = 0
for strict in (
    torch.compile(first, backend="eager", fullgraph=True),
    second,
    third,
    torch.compile(fourth, backend="eager"),
    torch._dynamo.optimize("eager", nopython=True)(fifth),
):
    try:
        strict(torch.ones(2))
    except torch._dynamo.exc.Unsupported as error:
        failed, last = failed + 1, error
print(f"failed {failed}")
if failed:
    raise last
