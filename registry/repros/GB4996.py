"""`use_mem_pool` gets the number of a device from a tensor. Dynamo needs this
number while it traces, when there are no values yet."""
import torch

REACH = "config"
REQUIRES = {"device": "cuda", "release": ">=2.14"}
CONFIG = {"capture_scalar_outputs": True}
POOL = torch.cuda.MemPool()


def inputs():
    return torch.randn(8), torch.tensor(0)


def broken(x, where):
    with torch.cuda.use_mem_pool(POOL, where.item()):
        return x.exp()


def fixed(x, where):
    """Use this when a tensor is already on that device. Ask that tensor for
    its device: Dynamo knows the answer."""
    with torch.cuda.use_mem_pool(POOL, x.device):
        return x.exp()
