"""Dynamo compiles a function again when something that it relied on is
different: a Python value, a shape, a dtype, a gradient mode. After 8 versions
of one function it gives up, and new cases run in eager (an error with
`fullgraph=True`). `TORCH_LOGS=recompiles` prints what was different each time:
look there first, then at the case here that is like yours."""
import torch
from torch._dynamo.decorators import skip

TITLE = "A counter in the module"
FLAGS = {"fixed_flag": {"allow_unspec_int_on_nn_module": True}}
EFFECTS = {
    "fixed_buffer": "The count is a tensor after this fix, and an `int` before."
}


class Net(torch.nn.Module):
    step = 0

    def forward(self, x):
        self.step += 1
        return x.sin() / self.step


class NetWithArgument(torch.nn.Module):
    step = 0

    def forward(self, x, step):
        return x.sin() / step


class NetWithBuffer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("step", torch.tensor(0))

    def forward(self, x):
        self.step = self.step + 1
        return x.sin() / self.step


net = Net()
net_with_argument = NetWithArgument()
net_with_buffer = NetWithBuffer()


def inputs():
    return (torch.randn(8),)


# `skip`: the loop is left to Python, and what it calls is compiled.
@skip
def broken(x):
    for _ in range(9):
        x = net(x)
    return x


@skip
def fixed(x):
    """Use this when you can change the call. Count outside, and pass the
    number. From the second value on, Dynamo treats an `int` argument as a
    variable."""
    for _ in range(9):
        net_with_argument.step += 1
        x = net_with_argument(x, net_with_argument.step)
    return x


@skip
def fixed_buffer(x):
    """Use this when the count belongs to the model and is saved with it. Make
    it a buffer. A tensor's value is no reason to compile again."""
    for _ in range(9):
        x = net_with_buffer(x)
    return x


@skip
def fixed_flag(x):
    """Use this when you can't change the module. With the flag
    `allow_unspec_int_on_nn_module`, its `int` attributes are variables, as
    `int` arguments are."""
    for _ in range(9):
        x = net(x)
    return x
