"""Write a backend of your own.

A backend is a function that gets a graph and returns something that can be called. This lesson writes one that prints,
then one that changes the graph, then one that does so in the backward as well, and at last gives it a name that
`torch.compile` finds.

Explains: GB0219, backend-compiler-failed, boxed-arguments, missing-backend
"""

# %% [markdown]
# ## A backend that prints
#
# `printing` is a whole backend. It prints what it gets, and returns the graph as it is, because a graph can be called
# like a function.

# %%
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from functorch.compile import make_boxed_func
from torch._dynamo.backends.common import aot_autograd


def printing(graph, inputs):
    print("inputs:", ", ".join(type(one).__name__ for one in inputs))
    for node in graph.graph.nodes:
        print(" ", node.format_node())
    return graph


def f(x):
    return torch.mul((x * 2).sin(), 2).mul(2)


x = torch.linspace(-1, 1, 4)
assert torch.equal(torch.compile(f, backend=printing)(x), f(x))

# %% [markdown]
# A graph is a list of nodes: its inputs (`placeholder`), its calls, and what it returns. The calls are as you wrote
# them. `f` multiplies by 2 in three ways, and the graph has three different things: the operator `*`, the function
# `torch.mul`, and the method `mul`.
#
# When is a backend called? Once per graph, not once per call of the function. And a graph is not made for one size
# forever: after a second size, Dynamo makes a graph for any size.


# %%
def counting(graph, inputs):
    print("  the backend is called; inputs:", ", ".join(type(one).__name__ for one in inputs))
    return graph


compiled = torch.compile(f, backend=counting)
for size in (4, 4, 5, 6):
    print("size", size)
    compiled(torch.ones(size))

# %% [markdown]
# Two graphs for four calls. The second one takes the size as an input, a `SymInt`. Remember that when you write a
# backend: **not all inputs are tensors**.
#
# ## A backend that changes the graph
#
# Let us replace each `x * 2` by `x + x`. It gains nothing, but it is easy to check: both give the same floating-point
# numbers, bit by bit. `torch.fx.replace_pattern` takes two functions, looks for what the first one does, and puts what
# the second one does in its place.


# %%
def calls(graph):
    targets = [node.target for node in graph.graph.nodes if node.op.startswith("call_")]
    return "  ".join(getattr(target, "__name__", target) for target in targets)


def doubling(graph, _inputs):
    print("before:", calls(graph))
    found = torch.fx.replace_pattern(graph, lambda x: x * 2, lambda x: x + x)
    print("after: ", calls(graph))
    print("replaced:", len(found))
    return graph


assert torch.equal(torch.compile(f, backend=doubling)(x), f(x))

# %% [markdown]
# The result is right, but only one of three was replaced. The pattern was written with `*`, so `torch.mul` and `.mul`
# are something else. **A right result does not show that a pass did anything.** Count what it replaces.
#
# ## One name per operation, and the backward as well
#
# You could write a pattern for each spelling. It is better to ask for another graph. `aot_autograd` stands between
# Dynamo and your code, translates each spelling to the same ATen operator, and makes a graph for the backward, too. You
# give it a compiler for graphs; it calls this compiler with the forward graph and with the backward graph.


# %%
def double(graph, _inputs):
    def product(x):
        return torch.ops.aten.mul.Tensor(x, 2)

    def total(x):
        return torch.ops.aten.add.Tensor(x, x)

    print("before:", calls(graph))
    found = torch.fx.replace_pattern(graph, product, total)
    print("after: ", calls(graph))
    print("replaced:", len(found))
    return make_boxed_func(graph.forward)


mine = aot_autograd(fw_compiler=double)
x.requires_grad_()
result = torch.compile(f, backend=mine)(x)

# %% [markdown]
# Two graphs, forward and backward, and all multiplications by 2 are replaced in both. The `mul` that is left in the
# backward multiplies by a cosine. Are result and gradient still the same, bit by bit?

# %%
result.sum().backward()
(expected,) = torch.autograd.grad(f(x).sum(), x)
print("result:", torch.equal(result, f(x)))
print("gradient:", torch.equal(x.grad, expected))
assert torch.equal(result, f(x)) and torch.equal(x.grad, expected)

# %% [markdown]
# They are, and you wrote no line about derivatives.
#
# `make_boxed_func` is about memory: AOTAutograd passes all arguments in one list, which the callee may empty, so that
# tensors can be freed early. Without it you get a warning, and the result is still right.
#
# ## When a backend fails
#
# Dynamo trusts you to handle each graph. An error in your backend stops the program, and Dynamo says whose error it is:


# %%
def refusing(graph, _inputs):
    raise NotImplementedError("my device has no sin")


try:
    torch.compile(f, backend=refusing)(x)
except torch._dynamo.exc.BackendCompilerFailed as error:
    print("\n".join(str(error).splitlines()[:2]))

# %% [markdown]
# If there is a graph that you can't handle, you need not raise: return it as it is, and torch's own kernels run it.
#
# ## A name for it
#
# So far we passed the function itself. With a name, people can write `backend="mine"` without importing anything. A
# Python package offers such names in the group `torch_dynamo_backends` of its entry points. In `pyproject.toml`:
#
# ```toml
# [project.entry-points.torch_dynamo_backends]
# mine = "my_package:backend"
# ```
#
# When you install the package, pip writes that into a file beside it: `entry_points.txt` in a folder that ends with
# `.dist-info`. To see how little is needed, we write these files by hand.

# %%
folder = tempfile.TemporaryDirectory()
(Path(folder.name) / "my_package.py").write_text("""
def backend(graph, inputs):
    print("my backend got a graph with", len(graph.graph.nodes), "nodes")
    return graph
""")
info = Path(folder.name) / "my_package-1.0.dist-info"
info.mkdir()
(info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
(info / "entry_points.txt").write_text("[torch_dynamo_backends]\nmine = my_package:backend\n")
print(sorted(file.name for file in info.iterdir()))

# %% [markdown]
# torch looks for entry points once per process, so we start a new Python with this folder on its path. Its program
# never imports `my_package`, and its second `torch.compile` has a spelling mistake.

# %%
program = """
import torch

print("listed:", "mine" in torch._dynamo.list_backends())
torch.compile(lambda x: x + 1, backend="mine")(torch.ones(2))
try:
    torch.compile(lambda x: x + 1, backend="mein")
except RuntimeError as error:
    print(error)
"""
path = os.pathsep.join(filter(None, [folder.name, os.environ.get("PYTHONPATH")]))
environment = {**os.environ, "PYTHONPATH": path}
print(subprocess.check_output([sys.executable, "-c", program], env=environment, text=True), end="")
folder.cleanup()

# %% [markdown]
# Misspelt names are found at once, in `torch.compile` itself and not in the first call.
#
# Inside one program you need no package: `torch._dynamo.register_backend(function, name="mine")` does the same. And for
# a single call, passing the function is enough.
#
# Do you need a backend at all? To make a program faster, rarely: Inductor is hard to beat. A backend pays off for a
# device that torch has no code for, and, as in this lesson, for looking at graphs and checking them.
