"""Memory: what compiling saves, and what it does not.

Compiled code needs less memory where it joins operators, and where it computes values again instead of keeping them for
the backward pass. This lesson measures both, shows a model where nothing is saved, and ends with checkpointing.

Explains: donated-buffer, higher-order-operators, GB0067, autograd-and-hooks
"""

# %% [markdown]
# ## A tool to measure
#
# Three numbers say what a function does with memory: the *peak* (the most that was in use at one time), what is *kept*
# when it returns (its result, and what autograd needs for the backward pass), and what was *allocated* in sum. All are
# counted above what was in use before.
#
# On a GPU torch's allocator keeps statistics. On a CPU it does not, but the profiler records each allocation and each
# release, and we add them up. Both see the memory of tensors, and nothing else: not the memory of libraries, of Python or
# of the compiler. The unit is the size of the input `x`, so that the numbers are easy to compare.

# %%
import os
import statistics
import tempfile
import time
from collections import Counter

os.environ["KINETO_LOG_LEVEL"] = "6"  # the profiler's own messages are of no use here

import torch
from functorch.compile import default_partition, make_boxed_func, min_cut_rematerialization_partition
from torch.profiler import profile
from torch.utils.checkpoint import checkpoint

folder = tempfile.TemporaryDirectory()
os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder.name
torch.set_num_threads(1)  # other programs on the machine disturb one thread less
torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"


# %%
def gpu_memory(function, *args):
    torch.cuda.reset_peak_memory_stats()
    before, total_before = torch.cuda.memory_allocated(), torch.cuda.memory_stats()["allocated_bytes.all.allocated"]
    result = function(*args)  # noqa: F841  # keeps the result alive while we measure
    total = torch.cuda.memory_stats()["allocated_bytes.all.allocated"] - total_before
    return torch.cuda.max_memory_allocated() - before, torch.cuda.memory_allocated() - before, total


def cpu_memory(function, *args):
    with profile(profile_memory=True) as records:
        result = function(*args)  # noqa: F841
    changes = [event for event in records.profiler.kineto_results.events() if event.name() == "[memory]"]
    in_use = [0]
    for change in sorted(changes, key=lambda event: event.start_ns()):
        in_use.append(in_use[-1] + change.nbytes())
    return max(in_use), in_use[-1], sum(max(change.nbytes(), 0) for change in changes)


def memory(what, function, x):
    measure = gpu_memory if device == "cuda" else cpu_memory
    peak, kept, total = (number / x.nbytes for number in measure(function, x))
    print(f"{what:26} peak ≈ {peak:4.1f}, kept ≈ {kept:4.1f}, allocated ≈ {total:5.1f}")
    return peak, kept, total


# %% [markdown]
# ## Fusion: tensors that are never written
#
# The function below has 20 operators. In eager mode each of them writes a whole tensor. Inductor joins them into one
# loop, in which the values in between stay in registers.


# %%
def chain(x):
    for _ in range(5):
        x = torch.tanh(x) * 0.5 + x * 0.5
    return x


fused = torch.compile(chain)
x = torch.randn(1024, 512, device=device)
fused(x)  # compile first, and measure the second call
peak, _, total = memory("eager", chain, x)
fused_peak, _, fused_total = memory("compiled", fused, x)
assert fused_total < total / 10 and fused_peak < peak

# %% [markdown]
# The sum of the allocations falls from 20 tensors to one: the result. That is the reason for the speed, because each
# tensor is written to memory once and read back once or twice. The peak falls less, because eager mode releases a tensor as
# soon as nobody needs it: at any time only a few are there. So in inference, compile saves traffic rather than space. If
# a model does not fit into memory in eager mode, compiling it for inference will hardly make it fit.
#
# ## Training: what is kept for the backward pass
#
# With gradients it is different, because autograd keeps tensors from the forward pass until the backward pass. These add
# up over all layers, and in training they are often most of the memory. Now look at *kept*. Four ways to run the same
# function: eager mode; a backend that cuts the graph where autograd would (`default_partitioner`); one that uses
# Inductor's way to cut (`decomp_partition`), but runs ordinary operators; and Inductor itself.

# %%
ways = {
    "eager": chain,
    "default partitioner": torch.compile(chain, backend="aot_eager_default_partitioner"),
    "min-cut partitioner": torch.compile(chain, backend="aot_eager_decomp_partition"),
    "inductor": torch.compile(chain),
}
x.requires_grad_(True)
kept = {}
for name, function in ways.items():
    torch.compiler.reset()
    function(x).sum().backward()
    kept[name] = memory(name, function, x)[1]
assert kept["inductor"] < kept["eager"] / 3

# %% [markdown]
# The second way keeps what eager keeps: a result of `tanh` for each of 5 layers, and the output. The other two keep the
# output alone (the input is there anyway). The compiler sees forward and backward pass as one graph, and has to cut
# it into two. What crosses the cut must be kept. The *min-cut partitioner* looks for the cut with the fewest bytes, and
# may compute cheap things a second time to make it smaller. Without fusion, the third way pays for this with more
# allocations; Inductor joins the second computation into the loops of the backward pass.
