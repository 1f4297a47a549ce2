"""What the first call costs, and when it pays off.

The first call of a compiled function is slow, the calls after it are fast. This lesson measures both, shows what makes
torch compile again, counts the calls until the cost is paid back, and looks with a profiler at where the time goes.

Explains: GB0039, recompiles, slow-compilation, cache-corrupt, profiler-ignored
"""

# %% [markdown]
# ## Cold and warm
#
# `torch.compile(model)` compiles nothing. It returns a wrapper, and the work is done when the wrapper is called. To
# measure that, the compiler gets an empty folder for its cache, so that nothing is left from an earlier run, and one
# thread, so that other programs on the machine disturb the times less.

# %%
import json
import logging
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

os.environ["KINETO_LOG_LEVEL"] = "6"  # the profiler's own messages are of no use here

import torch
from torch.profiler import profile, record_function

folder = tempfile.TemporaryDirectory()
os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(Path(folder.name) / "cache")
torch.set_num_threads(1)
warnings.simplefilter("ignore")  # torch's advice for some machines
device = "cuda" if torch.cuda.is_available() else "cpu"


# %%
class Small(torch.nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.scales = torch.nn.ParameterList(torch.rand(256) for _ in range(layers))

    def forward(self, x):
        for scale in self.scales:
            x = x + torch.relu(x * scale - 0.5) * 0.1
        return x


def seconds(function, *args):
    start = time.perf_counter()
    function(*args)
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - start


# %% [markdown]
# Compare the four times. The first line is there because torch does not load its compiler with `import torch`, but when
# a process uses `torch.compile` for the first time.

# %%
model = Small(layers=4).to(device).requires_grad_(False)
x = torch.randn(1024, 256, device=device)
model(x)  # the first use of a device has a cost of its own

loading = seconds(torch.compile, model)
wrapping = seconds(torch.compile, model)
compiled = torch.compile(model)
cold = seconds(compiled, x)
warm = statistics.median(seconds(compiled, x) for _ in range(20))

torch.testing.assert_close(compiled(x), model(x))
assert wrapping < cold and warm < cold
print(f"torch.compile, first use: ≈ {loading * 1000:.0f} ms")
print(f"torch.compile:            ≈ {wrapping * 1000:.2f} ms")
print(f"first call:               ≈ {cold * 1000:.0f} ms")
print(f"calls after it:           ≈ {warm * 1000:.2f} ms")

# %% [markdown]
# A timer around `torch.compile(...)` misses the cost, and a benchmark that counts the first call measures the compiler.
# Leave the first call out, or report it on its own.
#
# What happens in the first call? A compiler has stages, and the *backend* decides how many of them run. `eager` stops
# after Dynamo, which reads the Python code and makes a graph. `aot_eager` adds AOTAutograd, which rewrites the graph
# into basic operators. `inductor`, the default, adds code generation and a compiler for that code (C++ on a CPU, Triton
# on a GPU). The next cell compiles a model that the cache does not have.

# %%
other = Small(layers=5).to(device).requires_grad_(False)
cost = {}
for backend in ("eager", "aot_eager", "inductor"):
    torch.compiler.reset()
    cost[backend] = seconds(torch.compile(other, backend=backend), x)
assert cost["eager"] < cost["inductor"]
for backend, spent in cost.items():
    print(f"first call with {backend + ':':10} ≈ {spent / cost['inductor']:.0%}")
print(f"the first call of the cell above: ≈ {cold / cost['inductor']:.0%}")

# %% [markdown]
# The last line is larger than 100 % if the first compilation of a process had more to do: load Inductor, and find out
# what the machine can do. When you look for graph breaks and do not need speed, use `backend="eager"`: it answers
# sooner and finds the same breaks, because they come from Dynamo.
#
# ## What makes torch compile again
#
# Compiled code is made for calls like the first one. Before each call torch checks that this still holds: these checks
# are the *guards*. If one fails, torch compiles once more and keeps both versions. A backend is a function that gets a
# graph, so a backend that counts shows when that happens.

# %%
graphs = []


def counting(graph_module, _inputs):
    graphs.append(graph_module)
    return graph_module.forward


def show(what, function, *args):
    before = len(graphs)
    function(*args)
    print(f"{what:34} {'compiled' if len(graphs) > before else '-'}")


def scaled(x, factor=2):
    return torch.relu(x * factor)


# %%
counted = torch.compile(scaled, backend=counting)
show("4 rows, the first call", counted, torch.ones(4, 3))
show("4 rows again", counted, torch.ones(4, 3))
show("5 rows", counted, torch.ones(5, 3))
show("6 rows", counted, torch.ones(6, 3))
show("another dtype", counted, torch.ones(4, 3, dtype=torch.float64))
show("another number of dimensions", counted, torch.ones(4))
show("a tensor that requires a gradient", counted, torch.ones(4, 3, requires_grad=True))

# %% [markdown]
# 5 rows cost a compilation, 6 rows do not: at the second size torch makes the number of rows a variable. The lesson on
# dynamic shapes looks into that. A dtype, a number of dimensions or `requires_grad` is never a variable, so each
# combination that you use costs one compilation.
#
# Python values are checked too. Which of them become variables?


# %%
def by_name(x, name):
    return x.sin() if name == "sin" else x.cos()


for factor in (2, 3, 4):
    show(f"the integer argument {factor}", counted, torch.ones(4, 3), factor)
torch.compiler.reset()
for factor in (0.25, 0.5, 0.75):
    show(f"the float argument {factor}", counted, torch.ones(4, 3), factor)
named = torch.compile(by_name, backend=counting)
for name in ("sin", "cos", "cosine"):
    show(f"the string argument {name!r}", named, torch.ones(4, 3), name)

# %% [markdown]
# A number behaves like a size: the second value costs a compilation, and that version holds for further values (`2` was
# the default above, so its code was there already). A string costs a compilation for each new value, even where two
# values do the same thing, such as `"cos"` and `"cosine"`.
#
# The costly case is a number that torch does not make a variable and that changes all the time. An integer attribute of
# a module is one.


# %%
class Counter(torch.nn.Module):
    step = 0

    def forward(self, x):
        return x * self.step


torch._logging.set_logs(dynamo=logging.ERROR)  # without this line torch warns when it gives up
module = Counter()
stepping = torch.compile(module, backend=counting)
before = len(graphs)
for step in range(20):
    module.step = step
    assert torch.equal(stepping(torch.ones(3)), torch.ones(3) * step)
print("calls: 20, compiled versions:", len(graphs) - before)

# %% [markdown]
# After 8 versions torch gave up on this function: the other calls ran without compiled code, and the results stayed
# right. The warning for it is GB0039. Pass such a number as an argument or as a tensor. A handful of compilations in
# the first seconds of a program is normal, and no reason to act.
#
# ## How many calls until it pays off
#
# Compiling is worth it when it costs less than all calls save together:
#
# `calls needed = cost of compiling / (time of an eager call - time of a compiled call)`
#
# The cell works that out for the model on a large and on a tiny input, and for a program that is one matrix product.


# %%
def pay_off(what, function, compiled, x):
    cost = seconds(compiled, x)
    eager_times, compiled_times = [], []
    for _ in range(50):
        eager_times.append(seconds(function, x))
        compiled_times.append(seconds(compiled, x))
    eager, fast = statistics.median(eager_times), statistics.median(compiled_times)
    answer = f"{cost:.1f} s / {(eager - fast) * 1000:.3f} ms = {cost / (eager - fast):,.0f} calls"
    if fast > 0.9 * eager:
        answer = "no gain to speak of, so never"
    print(f"{what:19} ≈ {eager / fast:.1f} times as fast: {answer}")


def product(a):
    return a @ a


# %%
torch.compiler.reset()
# The option gives compiled kernels a name in the profiler, for the last part of this lesson.
small = torch.compile(model, dynamic=False, options={"cpp.enable_kernel_profile": True})
large = torch.randn(2**12 if device == "cpu" else 2**18, 256, device=device)
tiny = torch.randn(8, 256, device=device)
pay_off("model, large input:", model, small, large)
pay_off("model, tiny input:", model, small, tiny)
pay_off("one matrix product:", product, torch.compile(product), torch.randn(400, 400, device=device))

# %% [markdown]
# The model is a friendly case: many small operators on the same numbers, which the compiler joins into one. A matrix
# product is one call of a tuned library already, and there is nothing to join. So "compile makes it 2 to 10 times
# faster" can be true of one program and false of the next: the share of the time that goes into small operators
# decides. And a script that makes fewer calls than the last number of its line is faster without `torch.compile`.
#
# Do not care about the cost if the program calls the model for minutes: training, or a server. Do care in tests, in
# notebooks and in scripts that run once.
#
# ## The cache on disk
#
# The cost comes back with each start of the program, but not all of it. Inductor keeps what it made in a folder, by
# default in the folder for temporary files. This cell runs one program in two new processes, one after the other.

# %%
PROGRAM = """
import json, sys, time, torch
from torch._dynamo.utils import counters

@torch.compile
def f(x):
    for k in range(6):
        x = torch.sin(x) * k + torch.softmax(x, dim=k % 2)
    return x

x = torch.ones(300, 400, device=sys.argv[1])
start = time.perf_counter()
f(x).sum().item()
took = time.perf_counter() - start
hits = sum(n for group in counters.values() for name, n in group.items() if name.endswith("cache_hit"))
print(json.dumps({"took": took, "found": hits > 0}))
"""

# %%
path = Path(folder.name) / "program.py"
path.write_text(PROGRAM)
took = []
for number in (1, 2):  # the processes inherit TORCHINDUCTOR_CACHE_DIR
    done = subprocess.run([sys.executable, path, device], capture_output=True, text=True, check=True)
    answer = json.loads(done.stdout)
    took.append(answer["took"])
    print(f"process {number}: found in the cache: {answer['found']}, first call: ≈ {answer['took']:.1f} s")
assert took[1] < took[0]

# %% [markdown]
# The second process found the generated code, and its first call was faster. It was not free: in each process the
# compiler is loaded again, and Dynamo traces again. A wrong hit is not to be feared, because the key of an entry
# contains the graph, the sizes, the options and the version of torch. In a container the default folder is lost with
# the container: set `TORCHINDUCTOR_CACHE_DIR` to a folder that stays.
#
# ## Where the time goes
#
# Why is the compiled model faster, and what is left? A profiler around the calls (not inside the compiled function,
# where it is ignored) records what ran. The cell counts the kernels of a call, that is, the operators and the compiled
# functions that do the work, and the share of the time outside of them: Python, torch's bookkeeping, and for compiled
# code the guards. On a CPU, the time of an operator includes the overhead of calling it.


# %%
def is_kernel(event):
    if device == "cuda":
        return event.device_type == torch.autograd.DeviceType.CUDA and event.name != "a call"
    return event.name.startswith("aten::") or "fused" in event.name


def profiled(what, function, x):
    with profile() as records:
        for _ in range(20):
            with record_function("a call"):
                seconds(function, x)
    kernels = [event for event in records.events() if is_kernel(event)]
    kernels = [event.time_range for event in kernels if not (event.cpu_parent and is_kernel(event.cpu_parent))]
    outside = []
    for call in records.events():
        if call.name == "a call" and call.device_type == torch.autograd.DeviceType.CPU:
            inside = [one for one in kernels if call.time_range.start <= one.start <= call.time_range.end]
            outside.append(1 - sum(one.elapsed_us() for one in inside) / call.time_range.elapsed_us())
    share = statistics.median(outside)
    print(f"{what:16} kernels: {len(inside):2}, outside of them: ≈ {share:.0%} of the time")
    return share


# %%
with profile():
    model(x)  # the first use of the profiler is slow
profiled("eager, large:", model, large)
outside_large = profiled("compiled, large:", small, large)
profiled("eager, tiny:", model, tiny)
outside_tiny = profiled("compiled, tiny:", small, tiny)
assert outside_tiny > max(outside_large, 0.5)

# %% [markdown]
# In eager mode, four layers of five operators are 20 kernels, and each of them reads its input from memory and writes a
# new tensor. The compiled model is one kernel, which reads the input once and writes the result once. That is the gain
# on the large input. On the tiny input the one kernel has next to nothing to do, and the call is mostly overhead, which
# no faster kernel can remove. On a GPU, `mode="reduce-overhead"` can lower it.
#
# For your own program the same two lines are enough (`with profile() as records:` and the call), and then
# `print(records.key_averages().table(sort_by="self_cpu_time_total", row_limit=10))`.
