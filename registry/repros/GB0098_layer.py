"""One layer of a model was taken out of compilation, by replacing its
`forward` with a disabled one: a quick way around a bug, and often
forgotten."""
import torch

TITLE = "A disabled layer"

model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.GELU())
model[0].forward = torch.compiler.disable(model[0].forward)

model_whole = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.GELU())


def inputs():
    return (torch.randn(2, 8),)


def broken(x):
    return model(x).sum()


def fixed(x):
    """Use this when the bug behind the workaround may be gone. Try it without:
    remove the line that replaces `forward`."""
    return model_whole(x).sum()
