"""The program calls `nn.GRU`. By default Dynamo leaves `nn.RNN`, `nn.GRU`
and `nn.LSTM` out of its graphs."""
import torch

FLAGS = {"fixed_flag": {"allow_rnn": True}}

GRU = torch.nn.GRU(3, 4)
CELL = torch.nn.GRUCell(3, 4)
WEIGHTS = GRU.named_parameters()
for name, weight in WEIGHTS:
    setattr(CELL, name.removesuffix("_l0"), weight)


def inputs():
    return (torch.randn(5, 3),)


def broken(x):
    output, _ = GRU(x)
    return output


def fixed(x):
    """Use this when the sequences are short. Step through them with a cell
    that shares the weights. The loop is unrolled, so the graph grows with the
    length."""
    state = x.new_zeros(4)
    states = []
    for step in x:
        state = CELL(step, state)
        states.append(state)
    return torch.stack(states)


def fixed_flag(x):
    """Use this when you want to keep `nn.GRU`. The flag `allow_rnn` lets
    Dynamo put it into graphs. PyTorch calls that experimental, so try it with
    your backend."""
    output, _ = GRU(x)
    return output
