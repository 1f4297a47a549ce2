"""A logger writes while the model runs. A graph holds only tensor
operations, so Dynamo ends it to let Python do the writing."""
import logging

import torch

OPAQUE = {
    "fixed": "Only the logging is in the operator: a graph can't write. What "
    "is computed stays in the graph.",
}
EFFECTS = {"fixed_flag": "Compiled code doesn't write the line."}

LOG = logging.getLogger(__name__)


@torch.compiler.disable
def log_late(mean):
    LOG.info("mean %s", mean)


FLAGS = {
    "fixed_flag": {"ignore_logging_functions": {logging.Logger.info}},
    "fixed_late": {"reorderable_logging_functions": {log_late}},
}


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


def fixed_flag(x):
    """Use this when compiled code needn't write the line: with
    `ignore_logging_functions`, Dynamo leaves the call out. Name exactly the
    method that you call, `logging.Logger.info`, and set it in the thread that
    calls the model. Torch 2.6 to 2.8 call the setting `ignore_logger_methods`."""
    x = x.sin()
    LOG.info("mean %s", x.mean())
    return x.cos()


def fixed_late(x):
    """Use this when the line may come later, after the graph has run. Write it
    in a function of your own, and name that in `reorderable_logging_functions`
    (a method such as `logging.Logger.info` has no effect there). `disable` keeps
    Dynamo from compiling the function afterwards. It may be given tensors,
    constants and texts. Call it in the compiled function itself: in a function
    that this calls, the line is lost (torch 2.11 and 2.13)."""
    x = x.sin()
    log_late(x.mean())
    return x.cos()
