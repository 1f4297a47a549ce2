"""A method is called on a tensor, and Dynamo finds it neither on ordinary
tensors nor in its own list. Here it is a static method of a subclass, called
on an instance made inside the compiled function."""
import torch

REACH = "private"


class Image(torch.Tensor):
    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def gamma():
        return 2.2


def inputs():
    return (torch.rand(8),)


def broken(x):
    image = x.sqrt().as_subclass(Image)
    return image ** image.gamma()


def fixed(x):
    """Use this when the method needs no instance. Call it on the class."""
    image = x.sqrt().as_subclass(Image)
    return image ** Image.gamma()
