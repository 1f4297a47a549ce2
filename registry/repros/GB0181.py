"""A parameter in bfloat16 collects its gradient in float32. Dynamo can't take
a tensor whose `.grad` has another dtype than the tensor itself."""
import torch

weight = torch.ones(4, dtype=torch.bfloat16, requires_grad=True)
weight.grad_dtype = torch.float32
weight.grad = torch.zeros(4)


def collect(weight):
    weight.main_grad += weight.grad
    weight.grad = None


collected = torch.ones(4, dtype=torch.bfloat16, requires_grad=True)
collected.grad_dtype = torch.float32
collected.main_grad = torch.zeros(4)
collected.register_post_accumulate_grad_hook(collect)


def inputs():
    return (torch.randn(4),)


def broken(x):
    return x * weight


def fixed(x):
    """Use this when gradients must add up in float32 over several steps. Let a
    hook move each one from `.grad` to an attribute of your own. Then `.grad`
    is empty when the compiled function runs."""
    return x * collected
