"""An `except` names an error class of numpy. Dynamo keeps what comes from
numpy apart from Python's own classes, and accepts only Python's own there. It
looks at the `except` lines in turn until one matches, so it meets this one."""
import numpy as np
import torch

REQUIRES = {"module": "numpy"}
COVERAGE = "one of the two handlers never runs"


def inputs():
    return (torch.randn(8),)


def broken(x):
    try:
        if x.dim() != 2:
            raise TypeError("need a matrix")
    except np.linalg.LinAlgError:
        return torch.zeros(())
    except TypeError:
        x = x.diag()
    return x.trace()


def fixed(x):
    """Use this when the two classes have nothing in common. Put Python's own
    first. Dynamo looks no further than the one that matches."""
    try:
        if x.dim() != 2:
            raise TypeError("need a matrix")
    except TypeError:
        x = x.diag()
    except np.linalg.LinAlgError:
        return torch.zeros(())
    return x.trace()
