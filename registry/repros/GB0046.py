"""The program asks whether inference mode is on. Dynamo doesn't support that
question inside a compiled function."""
import torch


def inputs():
    return (torch.randn(8),)


def broken(x):
    slope = 0.0 if torch.is_inference_mode_enabled() else 0.1
    return torch.nn.functional.leaky_relu(x, slope)


def fixed(x):
    """Use this when `torch.no_grad` may count as inference, too. Ask whether
    gradients are on: inference mode turns them off. Dynamo makes a graph for
    each answer."""
    slope = 0.1 if torch.is_grad_enabled() else 0.0
    return torch.nn.functional.leaky_relu(x, slope)
