"""A logger writes while the model runs. A graph holds only tensor
operations, so Dynamo ends it to let Python do the writing."""
import logging

import torch

OPAQUE = {
    "fixed": "Only the logging is in the operator: a graph can't write. What "
    "is computed stays in the graph.",
}

LOG = logging.getLogger(__name__)


@torch.library.custom_op("gb0291::log_mean", mutates_args=())
def log_mean(x: torch.Tensor) -> torch.Tensor:
    LOG.info("mean %s", x.mean())
    return x.clone()


log_mean.register_fake(torch.empty_like)
log_mean.register_autograd(lambda ctx, grad: grad)


def inputs():
    return (torch.randn(8),)


def broken(x):
    x = x.sin()
    LOG.info("mean %s", x.mean())
    return x.cos()


def fixed(x):
    """Use this when the log line must stay. A custom operator writes it and
    passes the tensor on, which costs a copy. To train, the operator needs
    `register_autograd`."""
    x = log_mean(x.sin())
    return x.cos()
