"""A model in DistributedDataParallel is compiled. Dynamo cuts the graph where
DDP's buckets of gradients end. One process is enough to see it."""

import torch
import torch.distributed as dist

ENVIRONMENT = {"TORCH_LOGS": "ddp"}


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(*(torch.nn.Linear(512, 512) for _ in range(4)))

    def forward(self, x):
        return self.layers(x)


def model():
    torch.manual_seed(0)
    return Model()


def run():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        parallel = torch.nn.parallel.DistributedDataParallel(model(), bucket_cap_mb=1)
        return torch.compile(parallel, backend="aot_eager")(torch.ones(2, 512)).detach()
    finally:
        dist.destroy_process_group()


def message():
    run()


def fixed():
    """Use this when one graph matters more to you than communication that overlaps the backward pass."""
    with torch._dynamo.config.patch(optimize_ddp=False):
        return run()


def eager():
    return model()(torch.ones(2, 512)).detach()
