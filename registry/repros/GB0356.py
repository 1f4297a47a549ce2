"""The backward operator of flex attention was called by hand, and the two
arguments that have defaults were left out. Dynamo then tries to hand over the
arguments as they are, and a Python function can't go into the graph."""
import math

import torch
from torch._higher_order_ops.flex_attention import flex_attention_backward
from torch.nn.attention.flex_attention import create_block_mask, noop_mask

REACH = "private"
COMPILE = {"backend": "eager"}

mask = create_block_mask(noop_mask, None, None, 8, 8, "cpu").as_tuple()


def inputs():
    q, k, v, grad = torch.randn(4, 1, 1, 8, 4).unbind()
    scores = q @ k.mT
    out = scores.softmax(-1) @ v
    return q, k, v, out, scores.logsumexp(-1) / math.log(2), grad


def keep(score, b, h, i, j):
    return score


def broken(*saved):
    return flex_attention_backward(
        *saved, None, keep, None, mask, 1.0, {}
    )


def fixed(*saved):
    """Use this when you call the backward operator by hand. Pass all fourteen
    arguments by position, as PyTorch itself does. Inductor needs Triton for
    it."""
    return flex_attention_backward(
        *saved, None, keep, None, mask, 1.0, {}, (), ()
    )
