"""What a backend gets, what it does with it, and which one to choose.

`torch.compile` collects the operations of your function in a graph and gives the graph to a backend. The default is
Inductor. Most of the others make nothing faster, and yet you want to know them: with them you find out which part of
`torch.compile` is at fault.

Explains: wrong-results, backend-compiler-failed, inductor-crash, double-backward, missing-backend
"""

# %% [markdown]
# Everything that this lesson imports:

# %%
import os
import re
import statistics
import tempfile
import time
import warnings
from pathlib import Path

import torch
from functorch.compile import make_boxed_func
from torch._dynamo.backends.common import aot_autograd
from torch._inductor.decomposition import select_decomp_table

from repro_runner.aot_backend import aot_mock_backend
from repro_runner.backends import ConstraintViolations, mock_backend
from repro_runner.constraints import UnsupportedOpsConstraint

device = "cuda" if torch.cuda.is_available() else "cpu"
warnings.filterwarnings("ignore", "TensorFloat32")  # advice about GPUs, which is not what this lesson is about

# %% [markdown]
# `torch._dynamo.list_backends()` has the names of the backends for daily use. With the argument `None` it has all of
# them. These five are in every installation:

# %%
for name in ("inductor", "cudagraphs", "eager", "aot_eager", "aot_eager_decomp_partition"):
    assert name in torch._dynamo.list_backends(None)
    print(f"{name}: {'daily use' if name in torch._dynamo.list_backends() else 'debugging'}")

# %% [markdown]
# ## What a backend gets
#
# A graph passes through three stages, and each backend stops at one of them:
#
# 1. **Dynamo** reads your Python code. Its graph calls the functions that you called. `eager` gets this graph.
# 2. **AOTAutograd** replaces them by ATen operators, the ones that torch's kernels are written for, and makes a second
#    graph for the backward. `aot_eager` gets these graphs.
# 3. **Decompositions** replace ATen operators by smaller ones. Inductor asks for this, because it then has fewer
#    operators to write code for.
#
# To see the graphs, we stop at the same places with a backend that prints.


# %%
def loss(x, w):
    return torch.nn.functional.gelu(x @ w).sum()


def names(graph):
    targets = [str(node.target) for node in graph.graph.nodes if node.op.startswith("call_")]
    return "  ".join(re.sub(r"<built-in \w+ (\w+).*|aten\.(\w+).*", r"\1\2", target) for target in targets)


def show(title):
    def compiler(graph, _inputs):
        print(f"{title}: {names(graph)}")
        return make_boxed_func(graph.forward)

    return compiler


x = torch.randn(3, 4, device=device, requires_grad=True)
w = torch.randn(4, 5, device=device)

# %% [markdown]
# Look for `gelu`. (`make_boxed_func` only changes how the arguments are passed. AOTAutograd wants them in one list.)


# %%
def dynamo_only(graph, _inputs):
    print(f"  one graph: {names(graph)}")
    return graph


aot = aot_autograd(fw_compiler=show("  forward"), bw_compiler=show("  backward"))
decomposed = aot_autograd(
    fw_compiler=show("  forward"), bw_compiler=show("  backward"), decompositions=select_decomp_table()
)
for title, backend in (("Dynamo", dynamo_only), ("AOTAutograd", aot), ("with Inductor's decompositions", decomposed)):
    print(title)
    torch.compile(loss, backend=backend)(x, w).backward()

# %% [markdown]
# Dynamo's graph has no backward: with `eager`, autograd records the operations while they run, as it always does. After
# AOTAutograd the backward is a graph of its own. After the decompositions `gelu` is no operator any more but a formula
# of multiplications, an addition and an `erf`.
#
# ## What it does with it
#
# - `eager` runs Dynamo's graph, operator by operator, with torch's own kernels.
# - `aot_eager` runs the ATen graphs in the same way.
# - `inductor` writes new code, C++ for a CPU and Triton for a GPU. Operators that follow each other become one loop.
#
# So of these three only Inductor can be faster. How much? We measure three functions: a chain of cheap operators, two
# calls of `tanh`, which needs more arithmetic per number, and a matrix product.

# %%
numbers = torch.randn(1 << (26 if device == "cuda" else 22), device=device)
matrix = torch.randn((4096, 4096) if device == "cuda" else (768, 768), device=device)


def chain(x):
    for _ in range(6):
        x = (x * 1.01 + 0.1).relu()
    return x


def curves(x):
    return (x.tanh() * 2 + 1).tanh()


def product(x):
    return x @ x


# %% [markdown]
# All four versions run in turn, so that a slow moment of the machine hits all of them. The numbers are medians, against
# the function without `torch.compile`. The first call, which compiles, is not counted.


# %%
def wait():
    if device == "cuda":
        torch.cuda.synchronize()


def seconds(function, argument):
    wait()
    start = time.perf_counter()
    function(argument)
    wait()
    return time.perf_counter() - start


def speedups(function, argument):
    versions = {name: torch.compile(function, backend=name) for name in ("eager", "aot_eager", "inductor")}
    versions["plain"] = function
    rounds = [{name: seconds(version, argument) for name, version in versions.items()} for _ in range(12)]
    medians = {name: statistics.median(one[name] for one in rounds[1:]) for name in versions}
    return {name: medians["plain"] / medians[name] for name in versions if name != "plain"}


found = {}
for function, argument in ((chain, numbers), (curves, numbers), (product, matrix)):
    found[function] = speedups(function, argument)
    words = [f"{name} ≈ {ratio:.1f} times" for name, ratio in found[function].items()]
    print(f"{function.__name__:8}", "  ".join(words))
assert found[chain]["inductor"] > 1

# %% [markdown]
# - `eager` and `aot_eager` do the same work with the same kernels, so expect about 1.0 from them, in every row.
# - The chain is where Inductor gains: the plain version reads and writes the whole tensor at every operator, the
#   compiled one once.
# - For `tanh`, look at your own number. On a GPU it is usually still memory that takes the time. On a CPU it is the
#   arithmetic, and Inductor's loop can even be slower than torch's own kernel.
# - The matrix product stays about where it is. By default, Inductor calls the same library for it that plain torch
#   calls. If your model's time is in big matrix products, **do not expect much from compiling**: only what stands
#   between them gets faster.
#
# ## Which stage is at fault?
#
# Each backend adds one stage to the one before. So if something goes wrong, run the same program with `eager`, then
# `aot_eager`, then `inductor`. The first one that goes wrong names the stage. Here are three programs that go wrong in
# different ways.


# %%
def decide(x):
    return x + 1 if x.sum() > 0 else x - 1


def slope_of_slope(compiled):
    at = torch.ones(3, device=device, requires_grad=True)
    (slope,) = torch.autograd.grad(compiled(at), at, create_graph=True)
    return torch.autograd.grad(slope.sum(), at)[0]


def seeded(compiled):
    torch.manual_seed(0)
    return compiled(torch.zeros(4, device=device))


programs = {
    "an `if` about numbers": (decide, lambda compiled: compiled(matrix)),
    "a second derivative": (lambda x: (x**3).sum(), slope_of_slope),
    "random numbers": (lambda x: x + torch.rand_like(x), seeded),
}

# %% [markdown]
# "same" means: equal to what the program gives without `torch.compile`. `fullgraph=True` makes Dynamo raise an error
# where it would otherwise leave a line to Python.

# %%
backends = ("eager", "aot_eager", "inductor")


def compare(function, use, backend):
    try:
        result = use(torch.compile(function, backend=backend, fullgraph=True))
    except RuntimeError:
        return "error"
    return "same" if torch.equal(result, use(function)) else "differs"


print(f"{'':22}", "".join(f"{name:11}" for name in backends).rstrip())
for title, (function, use) in programs.items():
    words = [compare(function, use, backend) for backend in backends]
    print(f"{title:22}", "".join(f"{word:11}" for word in words).rstrip())

# %% [markdown]
# - The `if` fails with every backend. So no backend is at fault: Dynamo can't decide it while it reads the code. Change
#   the program, not the backend.
# - The second derivative fails from `aot_eager` on. A backward graph that AOTAutograd has made has no derivative of its
#   own.
# - The random numbers differ with Inductor only. It has its own generator. That is no error, but it looks like one when
#   you compare results (`torch._inductor.config.fallback_random = True` brings the old numbers back).
#
# For a finer answer, put `aot_eager_decomp_partition` between the last two. It adds Inductor's decompositions, and its
# way to divide the work between forward and backward, and runs the graphs with torch's own kernels.
#
# ## Backends that stand for a device
#
# This project has two backends of its own. They play an accelerator that can't do everything: you say what it lacks,
# and they refuse the graphs that need it. `mock` looks at the graphs of stage 2 and runs them with torch's kernels.
# `aot_mock` looks at those of stage 3 and compiles them with Inductor. Once the project is installed, torch finds both
# by name: `backend="mock"`.
#
# Say a device has no `gelu`, and another one has no `erf`:

# %%
torch._dynamo.reset()  # forget what was compiled above
folder = tempfile.TemporaryDirectory()
os.environ |= {"GRAPHBREAK_HOME": folder.name, "GRAPHBREAK_ARTIFACTS": "1"}  # where the two keep graphs that they saw

for missing in ("aten.gelu", "aten.erf"):
    lacking = {"constraints": [UnsupportedOpsConstraint([missing])], "check_backward": True}
    for name, backend in (("mock", mock_backend), ("aot_mock", aot_mock_backend)):
        try:
            torch.compile(loss, backend=backend, options=lacking)(x, w)
            print(f"no {missing}, {name}: runs")
        except ConstraintViolations as error:
            where = sorted({f"{one.op} in the {one.graph}" for one in error.violations})
            print(f"no {missing}, {name}: refused, {', '.join(where)}")

# %% [markdown]
# The same program, the same missing operator, two answers: it depends on the stage at which a device takes its graph. A
# device without `gelu` is fine if `gelu` is decomposed first. And `erf` is nowhere in the program: it comes from the
# decomposition. The backward was refused, too, although the cell never calls it: `check_backward` asks for that.
# Otherwise it is checked when it runs first.
#
# Both backends keep what they saw. These are the files for the graph that `aot_mock` compiled. (`graphbreak artifacts
# list` shows yours.)

# %%
graph = next(Path(folder.name).rglob("output_code.py")).parents[2]
for file in sorted(graph.rglob("*.*")):
    print(file.relative_to(graph).as_posix())
folder.cleanup()

# %% [markdown]
# ## Which one, then?
#
# - `inductor` makes a program faster. It is the default, so you need not name it.
# - `eager` shows graphs, breaks and recompiles without waiting for a compiler. If a program fails with it, Dynamo is
#   at fault.
# - `aot_eager` tests whether AOTAutograd is at fault.
# - `aot_eager_decomp_partition` tests whether a decomposition is at fault.
# - `mock` and `aot_mock` say what a device that lacks something would refuse.
#
# While nothing goes wrong, leave `backend=` out.
