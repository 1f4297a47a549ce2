"""A tensor subclass has a class attribute with a name that every tensor has
too, here `name`. Dynamo follows a method or property that replaces one of
torch's, but not a plain value."""
import torch


class Image(torch.Tensor):
    name = "photo"


class NamedImage(torch.Tensor):
    @property
    def name(self):
        return "photo"


def inputs():
    return (torch.randn(4),)


def broken(x):
    image = x.sin().as_subclass(Image)
    return x.clamp(0, 1) if image.name == "photo" else x


def fixed(x):
    """Use this when the class is yours and must keep the name. Make the
    attribute a property."""
    image = x.sin().as_subclass(NamedImage)
    return x.clamp(0, 1) if image.name == "photo" else x


def fixed_class(x):
    """Use this when the class is not yours. Read the attribute from
    `type(image)`, not from the tensor."""
    image = x.sin().as_subclass(Image)
    return x.clamp(0, 1) if type(image).name == "photo" else x
