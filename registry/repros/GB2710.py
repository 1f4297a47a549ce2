"""A decorator keeps a context manager for the methods of a class, and the
object is made in the compiled function. Dynamo knows no name under which it
could store changes to that context manager."""
import torch

REQUIRES = {"release": ">=2.15"}


class Counter:
    calls = 0

    def __enter__(self):
        self.calls += 1

    def __exit__(self, *error):
        return None


COUNTER = Counter()


def inside(context):
    def decorate(method):
        def wrapper(self, x):
            with context:
                return method(self, x)

        return wrapper

    return decorate


class Model:
    @inside(COUNTER)
    def predict(self, x):
        return x.sin()


MODEL = Model()


class ModelGlobal:
    def predict(self, x):
        with COUNTER:
            return x.sin()


def inputs():
    COUNTER.calls = 0
    return (torch.randn(8),)


def broken(x):
    return Model().predict(x), COUNTER.calls


def fixed(x):
    """Use this when one object is enough. Make it before you call the compiled
    function."""
    return MODEL.predict(x), COUNTER.calls


def fixed_global(x):
    """Use this when you need a new object in every call. Let the method use
    the context manager by its global name."""
    return ModelGlobal().predict(x), COUNTER.calls
