"""`==` compares the `values()` of two dicts. Python doesn't look at the values
here: it asks whether both are the same object. Both are made inside the
compiled function, and for such objects Dynamo can't tell."""
import torch

LIMITS = {
    "fixed": {
        "size": "With 7 elements the values are equal, and so are the lists. The "
        "`values()` still are not: that is the mistake in the original."
    }
}


def inputs():
    return (torch.randn(8),)


def broken(x):
    old, new = {"width": 8}, {"width": len(x) + 1}
    return x.sin() if old.values() == new.values() else x.cos()


def fixed(x):
    """Use this when you want to compare the values. Make lists: `==` between
    two `values()` is False even if the values are equal."""
    old, new = {"width": 8}, {"width": len(x) + 1}
    same = list(old.values()) == list(new.values())
    return x.sin() if same else x.cos()
