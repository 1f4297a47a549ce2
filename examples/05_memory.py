"""Memory: what compiling saves, and what it does not.

Compiled code needs less memory where it joins operators, and where it computes values again instead of keeping them for
the backward pass. This lesson measures both, and shows a model where nothing is saved until checkpointing comes in.

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
# release, and we add them up. Both see the memory of tensors, and nothing else: not the memory of libraries, of Python
# or of the compiler. The unit is the size of the input `x`, so that the numbers are easy to compare.

# %%
import os
import statistics
import tempfile
import time
import warnings
from collections import Counter

os.environ["KINETO_LOG_LEVEL"] = "6"  # the profiler's own messages are of no use here

import torch
from functorch.compile import default_partition, make_boxed_func, min_cut_rematerialization_partition
from torch._dynamo.backends.common import aot_autograd
from torch._functorch import config as functorch_config
from torch.profiler import profile
from torch.utils.checkpoint import checkpoint

folder = tempfile.TemporaryDirectory()
os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder.name
torch.set_num_threads(1)  # other programs on the machine disturb one thread less
warnings.simplefilter("ignore")  # torch's advice for some machines
device = "cuda" if torch.cuda.is_available() else "cpu"
rows = 2**10 if device == "cpu" else 2**15


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


# %%
def memory(what, function, argument):
    measure = gpu_memory if device == "cuda" else cpu_memory
    peak, kept, total = (number / x.nbytes for number in measure(function, argument))
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
        x = torch.sin(x) * 0.5 + x * 0.5
    return x


fused = torch.compile(chain)
x = torch.randn(rows, 512, device=device)
fused(x)  # compile first, and measure the second call
peak, _, total = memory("eager", chain, x)
fused_peak, _, fused_total = memory("compiled", fused, x)
assert round(total) == 20 and round(fused_total) == 1 and fused_peak < peak

# %% [markdown]
# The sum of the allocations falls from 20 tensors to one, the result. That is the reason for the speed, because each
# tensor has to be written to memory and read back. The peak falls less, because eager mode releases a tensor as soon as
# it is no longer needed: only a few exist at one time. And in a real model most of the memory in inference is weights,
# which stay as they are. So do not expect a model that does not fit into memory to fit because you compiled it.
#
# ## Training: what is kept for the backward pass
#
# Autograd keeps tensors from the forward pass until the backward pass. These add up over all layers, and in training
# they are often most of the memory. Now look at *kept*. The same function runs in four ways: in eager mode; with a
# backend that keeps what autograd would keep; with one that chooses what to keep, but runs ordinary operators
# (`aot_eager`); and with Inductor, which makes the same choice and joins operators as well.

# %%
ways = {
    "eager": chain,
    "default partition": torch.compile(chain, backend="aot_eager_default_partitioner"),
    "min-cut partition": torch.compile(chain, backend="aot_eager"),
    "inductor": fused,
}
x.requires_grad_(True)
kept = {}
for name, function in ways.items():
    function(x).sum().backward()  # compile first
    kept[name] = memory(name, function, x)[1]
assert kept["inductor"] < kept["eager"] / 3

# %% [markdown]
# The first two keep the input of each `sin` and the result. The others keep the result alone; the input `x` is there
# anyway. How? The compiler has one graph for forward and backward pass together, and must cut it in two. What crosses
# the cut is kept. The *min-cut partitioner* looks for the cut with the fewest bytes, and may compute cheap values a
# second time to get it. The next cell counts that: which operators are in the two halves?


# %%
def counting(name):
    def compiler(graph_module, _inputs):
        names = Counter(str(node.target) for node in graph_module.graph.nodes)
        print(f"    {name:9} sin: {names['aten.sin.default']}, cos: {names['aten.cos.default']}")
        return make_boxed_func(graph_module.forward)

    return compiler


for partition in (default_partition, min_cut_rematerialization_partition):
    print(partition.__name__)
    backend = aot_autograd(fw_compiler=counting("forward"), bw_compiler=counting("backward"), partition_fn=partition)
    torch.compile(chain, backend=backend)(x).sum().backward()

# %% [markdown]
# The derivative of `sin` is `cos`, so the 5 `cos` are the work that has to be done. The 4 `sin` are computed again:
# that is the price of keeping less. How high is it? The next cell times a whole step, forward and backward. The second
# and third line run the same kind of operators and differ in the cut alone. Then comes the forward pass alone, and a
# function with `relu`, which is much less arithmetic than `sin`.


# %%
def step(function):
    function(x).sum().backward()


def seconds(function, *args):
    start = time.perf_counter()
    function(*args)
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - start


def compare(what, run, ways):
    times = {name: [] for name in ways}
    for _ in range(10):
        for name, function in ways.items():
            times[name].append(seconds(run, function))
    took = {name: statistics.median(times[name]) for name in ways}
    for name in ways:
        print(f"{what + ', ' + name + ':':32} ≈ {took[name] / took['eager']:.0%} of eager")
    return took


def cheap(x):
    for _ in range(5):
        x = torch.relu(x) * 0.5 + x * 0.5
    return x


# %%
compare("sin, step", step, ways)
compare("sin, forward alone", lambda function: function(x), {"eager": chain, "inductor": fused})
cheap_fused = torch.compile(cheap)
step(cheap_fused)  # compile first
took = compare("relu, step", step, {"eager": cheap, "inductor": cheap_fused})
assert took["inductor"] < took["eager"]

# %% [markdown]
# With `relu` moving data is what takes the time, and Inductor wins. With `sin` the arithmetic counts too, most of all
# on a CPU. A number above 100 % says that compiling made this function slower here: less memory, more time. If it is
# above 100 % for the forward pass alone, Inductor's `sin` is slower than that of eager mode on this machine, and
# computing it again makes that worse. The partitioner does not measure; it goes by a list of operators that are taken
# to be cheap. Do not care if only a small part of your model is like this.
#
# ## A model where nothing is saved, and checkpointing
#
# A matrix product is not on the list of cheap operators, so what can be had only by a matrix product is kept. The next
# network is mostly matrix products. It also comes with *checkpointing*: `checkpoint(function, x)` is the order to keep
# `x` alone, and to run the whole function again in the backward pass, whatever it costs.


# %%
class Block(torch.nn.Module):
    def __init__(self, width, checkpointed):
        super().__init__()
        self.up = torch.nn.Linear(width, 4 * width)
        self.down = torch.nn.Linear(4 * width, width)
        self.checkpointed = checkpointed

    def inner(self, x):
        return x + self.down(torch.relu(self.up(x)))

    def forward(self, x):
        return checkpoint(self.inner, x, use_reentrant=False) if self.checkpointed else self.inner(x)


def network(checkpointed):
    return torch.nn.Sequential(*[Block(128, checkpointed) for _ in range(2)]).to(device)


plain, saving = network(checkpointed=False), network(checkpointed=True)
x = torch.randn(rows, 128, device=device)

# %%
torch.compiler.reset()
ways = {
    "eager": plain,
    "compiled": torch.compile(plain),
    "eager, checkpoint": saving,
    "compiled, checkpoint": torch.compile(saving, fullgraph=True),
}
kept = {}
for name, function in ways.items():
    step(function)
    kept[name] = memory(name, function, x)[1]
assert kept["compiled, checkpoint"] < kept["compiled"] / 3
assert round(kept["compiled"]) == round(kept["eager"])

# %% [markdown]
# Without checkpointing, compiled code keeps as much as eager mode: compiling is no substitute for checkpointing. With
# it, two tensors are kept, the input of the second block and the result (the input of the first block is `x` itself).
# Compile follows the order without a graph break (`fullgraph=True` would fail otherwise), and turns it into a rule for
# the cut of the graph: nothing from inside of a checkpoint may cross it. So you can use both together.
#
# What does it cost? Here is a whole training step of each.

# %%
for name, function in ways.items():
    memory(name, step, function)
took = compare("time", step, ways)

# %% [markdown]
# If `compiled` is above 100 %, compiling made this network slower: a tuned library does its matrix products in any
# case, and compiled code has an overhead of its own.
#
# The peak of a step falls less than what is kept: during the backward pass of a block its tensors are all there, and so
# are the gradients. The more blocks a model has, the more of the peak is what is kept, and the more checkpointing
# saves. In return, the forward pass of each block (or the part of it that is needed) runs twice.
#
# ## Between everything and nothing
#
# A setting lets the partitioner compute more again without a checkpoint in the code: a budget for what is kept, as a
# share of what it would keep by default. It is a private setting that may change.

# %%
torch.compiler.reset()
with functorch_config.patch(activation_memory_budget=0.5):
    frugal = torch.compile(plain)
    step(frugal)
    half = memory("compiled, budget 0.5", frugal, x)[1]
assert half < kept["compiled"]

# %% [markdown]
# ## Memory that is used twice
#
# There is one more way in which compiled code saves: the backward pass writes its results over tensors that were kept
# for it. They are *donated*. Eager mode allows a second backward pass through kept tensors. After compiled code has
# used them up, it could not be right, so torch refuses.

# %%
torch.compiler.reset()
plain(x).sum().backward(retain_graph=True)
print("eager: a backward pass that keeps its graph works")
try:
    torch.compile(plain)(x).sum().backward(retain_graph=True)
except RuntimeError as error:
    print("compiled:", str(error).split(" which")[0])

# %% [markdown]
# If you meet this message, leave `retain_graph=True` out, or add up the losses and call `backward` once.
#
# What this lesson could not show on a CPU: the memory that a GPU program holds beyond its tensors (`nvidia-smi` shows
# more than `torch.cuda.max_memory_allocated()`, because torch keeps released memory for later), fragmentation, and CUDA
# graphs (`mode="reduce-overhead"`), which hold on to their memory between calls and so need more of it. Measure those
# on the GPU that you use.
