"""Two tensors of different length are put into a nested tensor of the older,
strided layout. Dynamo supports only the jagged layout."""
import torch

GRADIENT = {
    "fixed_pad": "A gradient reaches `x` and `y`. `nested_tensor` copies their"
    " values only, so in your program none does."
}
LIMITS = {"fixed": {"dtype": "The tensors need the same dtype."}}


def inputs():
    return torch.randn(2, 3), torch.randn(4, 3)


def broken(x, y):
    nested = torch.nested.nested_tensor([x, y], layout=torch.strided)
    return nested.to_padded_tensor(0.0)


def fixed(x, y):
    """Use this when you need a nested tensor. Use the jagged layout."""
    nested = torch.nested.nested_tensor([x, y], layout=torch.jagged)
    return nested.to_padded_tensor(0.0)


def fixed_pad(x, y):
    """Use this when you only want padding, and gradients may flow.
    `pad_sequence` does it without a nested tensor. If gradients must not flow,
    give it `x.detach()` and `y.detach()`."""
    return torch.nn.utils.rnn.pad_sequence([x, y], batch_first=True)
