"""The compiled function writes to a logger, which a graph can't do. With
`fullgraph=True` that is an error, else a graph break."""
import logging

import torch

LOG = logging.getLogger("train")


def step(x):
    LOG.info("one step")
    return x.sin()


@torch.library.custom_op("gb0291_ignored::log_step", mutates_args=())
def log_step(x: torch.Tensor) -> torch.Tensor:
    LOG.info("one step")
    return x.clone()


log_step.register_fake(torch.empty_like)


def message():
    return torch.compile(step, backend="eager", fullgraph=True)(torch.ones(4))


def fixed():
    """Use this when compiled code needn't write the line: tell Dynamo to skip
    the method. In your program, call
    `torch._dynamo.config.ignore_logging_functions.add(logging.Logger.info)`
    once, in the thread that calls the model."""
    methods = {logging.Logger.info}
    with torch._dynamo.config.patch(ignore_logging_functions=methods):
        compiled = torch.compile(step, backend="eager", fullgraph=True)
        return compiled(torch.ones(4))


def fixed_ask():
    """Use this when you can change the code: ask whether it is being compiled,
    and write the line only if it is not."""

    def quiet_step(x):
        if not torch.compiler.is_compiling():
            LOG.info("one step")
        return x.sin()

    compiled = torch.compile(quiet_step, backend="eager", fullgraph=True)
    return compiled(torch.ones(4))


def fixed_op():
    """Use this when compiled code must write the line: a custom operator writes
    it and passes the tensor on, at the price of a copy. To train, also give it
    `register_autograd`."""

    def logged_step(x):
        return log_step(x).sin()

    compiled = torch.compile(logged_step, backend="eager", fullgraph=True)
    return compiled(torch.ones(4))


def eager():
    return step(torch.ones(4))
