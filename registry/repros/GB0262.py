"""The compiled function redirects what is printed, with
`contextlib.redirect_stdout`. It is one of the context managers of the standard
library that Dynamo refuses to trace."""
import contextlib
import io

import torch
from torch._dynamo.decorators import skip

LOG = io.StringIO()


def score(x):
    return x.exp().softmax(0)


def inputs():
    return (torch.randn(8),)


def broken(x):
    with contextlib.redirect_stdout(LOG):
        return x.exp().softmax(0)


@skip
def fixed(x):
    """Use this when you want to catch what the code prints. Redirect in the
    caller, around the compiled function. `skip` stands for a caller that you
    don't compile."""
    with contextlib.redirect_stdout(LOG):
        return score(x)
