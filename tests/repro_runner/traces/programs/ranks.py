"""Two ranks of one job: rank 1 prints inside its model, and sees one more shape."""

from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def model(x: torch.Tensor, rank: int) -> torch.Tensor:
    x = x + 1
    if rank == 1:
        print("rank 1 is here")
    x = x * 2
    torch._dynamo.graph_break()
    return x - 1


def work(rank: int, store: str) -> None:
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
    compiled = torch.compile(model, backend="eager", dynamic=False)
    for size in (4, 4, 5)[: 2 + rank]:
        compiled(torch.ones(size), rank)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(work, args=(str(Path("store").resolve()),), nprocs=2)  # type: ignore[attr-defined, no-untyped-call]
