"""Fusion: what Inductor writes, and what it saves.

Inductor, the default backend of `torch.compile`, turns a graph into loops of its own. This lesson reads those loops,
counts them, and measures when fewer loops mean less time.

Explains: no-cpp-compiler, no-triton, cpp-compile-error, inductor-crash, triton-crash, resuming-after-a-break
"""

# %% [markdown]
# Eager PyTorch runs one **kernel** per op: a loop that reads its input from memory and writes its result to memory.
# Inductor puts several ops into one kernel. This is **fusion**. It writes the kernels itself: C++ on a CPU, Triton on
# a GPU. That is why `torch.compile` needs a C++ compiler or Triton.
#
# ## One loop for a chain of ops
#
# `run_and_get_code` calls a compiled function and returns the programs that Inductor wrote. They are long, so the cell
# prints only the loop and the lines with values, and marks the op of ours that a line comes from. `W` stands for a
# number that depends on the CPU: how many floats one of its instructions handles.

# %%
import re
import statistics
import time
import warnings

import torch
import torch._inductor.config as inductor_config
from torch._inductor.compile_fx import compile_fx
from torch._inductor.utils import run_and_get_code

warnings.filterwarnings("ignore", message="TensorFloat32")
device = "cuda" if torch.cuda.is_available() else "cpu"
MARKS = {"load": "read x", r"\* t": "* 2", r"\+ tmp": "+ 1", "clamp|maximum": "relu", "- tmp": "- 3", "store": "write"}


def chain(x):
    return torch.relu(x * 2 + 1) - 3


def lines_that_matter(code):
    code = re.sub(r"static_cast<int64_t>\((\w+?)L?\)", r"\1", code).replace("at::vec::Vectorized<float>", "Vec")
    code = re.sub(r"(x\d\+=|loadu.*, )([2-9]|\d\d+)\b", r"\1W", code)
    return [line for line in code.splitlines() if re.search(r"\bfor\(|\btmp\d|\btmp_acc", line)]


x = torch.rand(1024, 1024, device=device)
result, programs = run_and_get_code(torch.compile(chain), x)
assert torch.allclose(result, chain(x))
for line in lines_that_matter(programs[0]):
    print(f"{line.strip():60}", *(f"# {op}" for pattern, op in MARKS.items() if re.search(pattern, line)))

# %% [markdown]
# There is one read and one write. Between them the values stay in registers (`tmp0`, `tmp1` and so on), which cost
# next to nothing. Eager runs four loops for the same line of Python: four reads and four writes.
#
# ## What is fused, and what is not
#
# The rest of the program calls the kernels one after the other. So the calls show what was fused. A kernel's name
# lists its ops. `extern_kernels` are not written by Inductor: they are functions of a library.


# %%
def compiled_kernels(function, *inputs):
    torch._dynamo.reset()  # forget what was compiled before
    _, programs = run_and_get_code(torch.compile(function), *inputs)
    calls = re.compile(r"^ +(cpp_fused\w+|triton_\w+|extern_kernels\.\w+)(?:\.run)?\(", re.MULTILINE)
    return [name for program in programs for name in calls.findall(program)], programs


cases = {
    "a chain": chain,
    "two results of one input": lambda x: (x.sin(), x.cos()),
    "a transposed input": lambda x: (x.t() * 2).contiguous() + 1,
    "a matrix product": lambda x: torch.relu(x @ x + 1),
}
for name, function in cases.items():
    print(f"{name:26}", *compiled_kernels(function, x)[0])

# %% [markdown]
# Elementwise ops are fused, also those that only move data about (`t`, `contiguous`), and also two results that read
# the same input. The matrix product stays a call of a library, which has been tuned for years, and only the ops after
# it are fused. (`mode="max-autotune"` also tries products of Inductor's own; the lesson about modes has more.)
#
# A **reduction** (a sum, a mean, a maximum) is a limit of another kind. To divide a row by its greatest number, all of
# it must have been seen before the first division. Look at the loops of the two functions below.


# %%
def by_row(x):
    return x / x.amax(dim=1, keepdim=True)


def by_all(x):
    return x / x.amax()


for function in (by_row, by_all):
    names, programs = compiled_kernels(function, x)
    print(f"{function.__name__}:", *names)
    for line in lines_that_matter(programs[0]):
        if re.search(r"for\(|/ t|, tmp0\);|max2", line):
            print("   ", line.removeprefix(" " * 8).replace("_local", ""))

# %% [markdown]
# On a CPU `by_row` is one function. Inside the loop over the rows (`x0`) there is a loop that looks for the maximum,
# then a loop that divides. The row is read twice, but the second time it comes from the cache. `by_all` needs two
# loops over everything, one after the other, and the second has to fetch the whole of `x` again. On a GPU `by_row` is
# one kernel that keeps a row in registers, while `by_all` needs several kernels: the blocks that run in parallel can't
# wait for one another's results.
#
# So a `softmax` or a `layer_norm` over the last dimension is cheap for a compiler. A statistic over the whole tensor
# is not, and it ends the kernel.
#
# ## What it saves
#
# A chain of cheap ops spends its time on memory, not on arithmetic. The fastest that such a chain can be is a plain
# copy: read everything once, write everything once. Four ops in eager move as much as four copies. The last function
# is the same chain, cut by graph breaks into four graphs. What is in different graphs can't be fused.


# %%
def cut(x):
    x = x * 2
    torch._dynamo.graph_break()
    x = x + 1
    torch._dynamo.graph_break()
    x = torch.relu(x)
    torch._dynamo.graph_break()
    return x - 3


big = torch.rand(200_000_000 if device == "cuda" else 16_000_000, device=device)
print("kernels of the chain:    ", len(compiled_kernels(chain, big)[0]))
print("kernels of the cut chain:", len(compiled_kernels(cut, big)[0]))

# %% [markdown]
# Each kernel writes its result to memory, and the next one fetches it from there. Now the time, as a multiple of a
# copy of the same tensor.


# %%
def medians(functions, x, repeats):
    times = {name: [] for name in functions}
    for _ in range(repeats + 2):
        for name, function in functions.items():
            start = time.perf_counter()
            function(x)
            if x.is_cuda:
                torch.cuda.synchronize()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(each[2:]) for name, each in times.items()}  # the first two only warm up


torch._dynamo.reset()
functions = {
    "copy": torch.clone,
    "eager": chain,
    "compiled": torch.compile(chain, dynamic=False),
    "compiled, cut": torch.compile(cut, dynamic=False),
}
seconds = medians(functions, big, repeats=11)
print(f"a copy moves ≈ {2 * big.nbytes / seconds['copy'] / 1e9:.0f} GB/s")
for name in ("eager", "compiled", "compiled, cut"):
    print(f"{name:14} ≈ {seconds[name] / seconds['copy']:.1f} times the time of a copy")

# %% [markdown]
# Compare `eager` with `compiled`. Fusion can't gain more than the memory traffic that is gone, so for four ops expect
# a factor of about four at most. A claim such as "ten times" needs a chain of ten ops or more. Where `compiled` takes
# longer than a copy, the arithmetic is not quite hidden behind the memory. The cut chain was compiled too, but it has
# as many kernels as eager, so there is nothing to gain. That is the price of graph breaks in the middle of cheap ops.
#
# The same functions on a small tensor, which fits into a cache:

# %%
small = torch.rand(1000, device=device)
seconds = medians(functions, small, repeats=200)
for name in functions:
    print(f"{name:14} ≈ {1e6 * seconds[name]:.0f} microseconds")

# %% [markdown]
# Here memory does not matter. What counts is the fixed price of a call: of each op in eager, and of each graph when
# compiled (its guards are checked, then the kernels are started). With few ops on little data, compiled code can be
# slower than eager. Don't look for fusion there, nor in a program that spends its time in big matrix products.
#
# ## Before the loops: the graph is tidied up
#
# Inductor first runs passes over the graph. The function below does three wasteful things. The cell prints the graph
# as Dynamo wrote it down, then the graph from which the loops are made.


# %%
def wasteful(x):
    unused = x.cos()  # noqa: F841 - never used
    six = torch.full((1000,), 2.0, device=x.device) * 3  # always the same number
    return (x + 1).sin() * (x + 1).sin() * six  # the same thing twice


def show(title, graph):
    print(title)
    for node in graph.nodes:
        if node.op.startswith("call"):
            name = getattr(node.target, "__name__", node.target)
            print(f"    {node.name} = {name}{node.args}{'' if node.users else '  # never used'}")


def backend(graph_module, inputs):
    show("from Dynamo:", graph_module.graph)
    return compile_fx(graph_module, inputs)


def compile_and_show(title, x, backend):
    torch._dynamo.reset()
    settings = {"post_grad_custom_post_pass": lambda graph: show(title, graph), "fx_graph_cache": False}
    with inductor_config.patch(settings):
        return run_and_get_code(torch.compile(wasteful, backend=backend), x)


_, programs = compile_and_show("after the passes:", small, backend)

# %% [markdown]
# **Dead code** is gone (`cos`), and `2.0` times `3` became `6.0` (**constant folding**). The old `full` is left over,
# but it is never used, so no loop is written for it. And `(x + 1).sin()` is still there twice. Is it computed twice?

# %%
for line in lines_that_matter(programs[0]):
    if "sin(" in line:
        print(line.strip())

# %% [markdown]
# No: when Inductor writes a kernel, it uses a line that it has already written. This is **common subexpression
# elimination**. When gradients are needed, the same is done earlier, in the graph, because the graph is then split
# into a forward and a backward part:

# %%
_, programs = compile_and_show("after the passes, with gradients:", small.clone().requires_grad_(), "inductor")

# %% [markdown]
# ## In short
#
# - Write clear Python. Repeated expressions, unused results and constants cost nothing once they are in one graph.
# - Fusion helps where many cheap ops run over much data. Then a graph break in their midst is worth a repair.
# - A big matrix product is not made faster by fusion, only what stands around it.
# - To read the loops of your own program, run it with `TORCH_LOGS=output_code`.
