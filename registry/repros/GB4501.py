"""The `id` of a list made inside the compiled function is used as a key of a
dict outside of it. That list exists only while Dynamo traces, so there is no
`id` to write into the dict."""
import torch

EFFECTS = {
    "fixed": "The list is in the dict under another key. The `id` of a list "
    "that exists only while Dynamo traces can't be the key."
}
SCALES_BY_ID = {}
SCALES_BY_NAME = {}


def inputs():
    return (torch.randn(8),)


def broken(x):
    scales = [2.0, 3.0]
    SCALES_BY_ID[id(scales)] = scales
    return x * scales[0]


def fixed(x):
    """Use this when the key doesn't have to be an `id`. Choose a key that
    means something, such as a name."""
    scales = [2.0, 3.0]
    SCALES_BY_NAME["scales"] = scales
    return x * scales[0]
