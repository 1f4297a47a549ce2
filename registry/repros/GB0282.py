"""A placement class, which says how a distributed tensor is split, has its own
`__getattr__`. Dynamo runs methods of placements while it traces, and refuses
that for such a class."""
import torch
from torch.distributed.tensor import Shard

REQUIRES = {"release": ">=2.10,<2.12"}


class NamedShard(Shard):
    names = {"rows": 0, "columns": 1}

    def __getattr__(self, name):
        if name in self.names:
            return self.dim == self.names[name]
        raise AttributeError(name)


class PlainShard(Shard):
    def rows(self):
        return self.dim == 0


by_rows = NamedShard(0)
plain_by_rows = PlainShard(0)
IS_SHARD = by_rows.is_shard()


def inputs():
    return (torch.randn(4, 4),)


def broken(x):
    return x.sum(0) if by_rows.is_shard() else x


def fixed(x):
    """Use this when you know the attributes beforehand. Write them as methods,
    and do without `__getattr__`."""
    return x.sum(0) if plain_by_rows.is_shard() else x


def fixed_outside(x):
    """Use this when you can't change the class. Ask the placement before you
    compile."""
    return x.sum(0) if IS_SHARD else x
