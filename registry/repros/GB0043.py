"""With this flag Dynamo traces only operators that carry the tag
`pt2_compliant_tag`. This custom operator was defined without it."""
import torch

CONFIG = {"only_allow_pt2_compliant_ops": True}
REACH = "config"


def halve(x: torch.Tensor) -> torch.Tensor:
    return x / 2


def halve_gradient(ctx, grad):
    return grad / 2


library = torch.library.Library("gb0043", "DEF")
library.define("plain(Tensor x) -> Tensor")
library.impl("plain", halve, "CompositeExplicitAutograd")
tag = torch.Tag.pt2_compliant_tag
library.define("tagged(Tensor x) -> Tensor", tags=tag)
library.impl("tagged", halve, "CompositeExplicitAutograd")
custom = torch.library.custom_op("gb0043::custom", halve, mutates_args=())
custom.register_fake(torch.empty_like)
custom.register_autograd(halve_gradient)
for name in ("gb0043::plain", "gb0043::tagged"):
    torch.library.register_autograd(name, halve_gradient)


def inputs():
    return (torch.randn(4),)


def broken(x):
    return torch.ops.gb0043.plain(x) + 1


def fixed(x):
    """Use this when you keep the low-level API. Give the operator the tag,
    once its tests pass (`torch.library.opcheck`)."""
    return torch.ops.gb0043.tagged(x) + 1


def fixed_custom(x):
    """Use this when you can define the operator again. Use
    `torch.library.custom_op`, which sets the tag."""
    return custom(x) + 1
