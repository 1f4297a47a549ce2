"""What Dynamo makes of your function.

Dynamo is the first stage of `torch.compile`. It reads the bytecode of a function, collects the tensor operations in a
graph, and writes new bytecode that calls the graph. This lesson shows all three, and what changes when a line of the
function can't go into the graph.

Explains: GB0059, builtins-and-data-structures, resuming-after-a-break, recompiles
"""

# %% [markdown]
# ## The graph
#
# Dynamo gives each graph that it collects to a **backend**, which turns the graph into something that can be called. A
# backend is a function. Ours keeps the graph, so that we can look at it, and returns it as it is.

# %%
import builtins
import dis
import re

import torch
from torch._dynamo.convert_frame import register_bytecode_hook

from repro_runner.graphs.drawing import draw_graph
from repro_runner.guards import GuardInspector


def step(x, training):
    y = x.sin() * 2
    if training:
        y = y.relu()
    return y + 1


graphs = []


def keep(graph, _example_inputs):
    graphs.append(graph)
    return graph


# %% [markdown]
# Now compile `step` and call it. An FX graph, as torch calls it, can be printed as Python code. Look for the `if` and
# for `training`.

# %%
x = torch.linspace(-2, 2, 5)
compiled = torch.compile(step, backend=keep)
assert torch.equal(compiled(x, True), step(x, True))
print(re.sub(";.*", "", graphs[0].code).strip())  # cut off: `;  sin = None`, which frees a tensor

# %% [markdown]
# Both are gone. `training` was `True`, so Dynamo took that branch and recorded what happens in it. Four operations are
# left, with no decision between them. The same graph as a picture:

# %%
draw_graph(graphs[0], "The graph of step(x, True)")

# %% [markdown]
# ## The bytecode
#
# Python runs bytecode, not source. Dynamo makes a second version of a function's bytecode, which runs in place of the
# first. A hook gets both. Raw bytecode is long and differs between Python versions, so we list only what it uses:
# names, operators and jumps.

# %%
LOOKUPS = ("LOAD_GLOBAL", "LOAD_METHOD", "LOAD_ATTR")
OF_DYNAMO = ("__import_torch", "__builtins_dict", "record_pregraph")  # with these it measures itself, and finds `print`


def used(code):
    found = []
    for one in dis.get_instructions(code):
        if one.opname == "BINARY_OP" and one.argrepr != "[]":
            found.append(one.argrepr)
        elif "JUMP" in one.opname:
            found.append("jump")
        elif isinstance(one.argval, str) and (one.opname in LOOKUPS or hasattr(builtins, one.argval)):
            found.append(re.sub("(__compiled_fn|__resume_at)_.*", r"\1_…", one.argval))
    return "  ".join(name for name in found if not name.startswith(OF_DYNAMO))


bytecode = []
hook = register_bytecode_hook(lambda before, after: bytecode.append((before, after)))

# %% [markdown]
# Compile `step` once more, now with the hook:

# %%
torch._dynamo.reset()  # forget what was compiled
compiled(x, True)
before, after = bytecode[0]
assert before is step.__code__  # the function itself was not changed
print("before:", used(before))
print("after: ", used(after))

# %% [markdown]
# All the work of the function is now one call of `__compiled_fn`, which is what the backend returned. The jump of the
# `if` is gone, too.
#
# ## The guards
#
# The new bytecode is right only for calls like the first one: with `training=False` it would give a wrong result. So
# Dynamo writes down what it took for granted. These are the **guards**. They are checked at the start of every call.

# %%
torch._dynamo.reset()
with GuardInspector() as inspector:
    compiled(x, True)
guards = inspector.report.graphs[0].guards
for guard in guards:
    if not guard.group:
        print("-", guard.words)
print("- and unchanged:", ", ".join(sorted({guard.group for guard in guards if guard.group})))

# %% [markdown]
# The numbers in `x` are not guarded: the graph is right for any of them. `training` is guarded by its value, because
# the `if` depended on it. When a guard fails, Dynamo compiles the function once more, for the new case, and keeps the
# old version, too.

# %%
calls = {
    "other numbers": (x * 3, True),
    "other flag": (x, False),
    "other dtype": (x.double(), True),
    "the first again": (x, True),
}
for name, arguments in calls.items():
    known = len(graphs)
    assert torch.equal(compiled(*arguments), step(*arguments))
    print(f"{name}: {'compiled again' if len(graphs) > known else 'nothing compiled'}")

# %% [markdown]
# ## A graph break
#
# A `print` is no tensor operation. It can't go into the graph, and it must not get lost either. So Dynamo ends the
# graph before the `print`, lets Python run the `print`, and begins a new graph after it. That is a **graph break**. Our
# next backend says when a graph runs.


# %%
def report(x):
    y = x.sin() * 2
    print("Python prints this line")
    return y.relu() + 1


def announce(graph, _example_inputs):
    calls = [node.target for node in graph.graph.nodes if node.op.startswith("call_")]
    graphs.append(graph)

    def run(*inputs):
        print("a graph runs:", ", ".join(getattr(target, "__name__", target) for target in calls))
        return graph(*inputs)

    return run


graphs.clear()
bytecode.clear()
with GuardInspector() as inspector:
    result = torch.compile(report, backend=announce)(x)

# %% [markdown]
# Two graphs, and Python between them. This is the reason, with its id in this registry:

# %%
for each in inspector.report.breaks:
    print(f"{each.gb_id}: {each.gb_type}")

# %% [markdown]
# ## The resume function
#
# How does Python get from the `print` into the second graph? Dynamo makes a new function for the rest of `report`, the
# **resume function**, and the new bytecode calls it. The resume function is then compiled like any other function.

# %%
for before, after in bytecode:
    arguments = before.co_varnames[: before.co_argcount]
    print(before.co_name)
    print("  takes: ", ", ".join(name for name in arguments if not name.startswith("__nested")))
    print("  before:", used(before))
    print("  after: ", used(after))

# %% [markdown]
# - The new bytecode of `report` calls the first graph, then `print`, then the resume function.
# - The name of the resume function says where it goes on: in which function and at which line. You meet such names in
#   tracebacks and profiles.
# - It takes what the rest needs: `y`, and as `___stack0` what the call at the break returned (`None`, from `print`).
#   The rest does not need `x`.
# - Before it is compiled, it has all of `report` in it. It is a copy with a jump at the start, to the place after the
#   `print`. Compiled, it is one call of the second graph.
#
# Since it is a function, it has guards of its own:

# %%
for part in inspector.report.graphs:
    print(f"{part.name}:")
    for guard in part.guards:
        if not guard.group:
            print("-", guard.words)

# %% [markdown]
# ## Without the break
#
# Let the caller print. Then all four operations are in one graph.


# %%
def quiet(x):
    y = x.sin() * 2
    return y.relu() + 1


graphs.clear()
assert torch.equal(torch.compile(quiet, backend=announce)(x), result)
print("the caller prints this line")
print("graphs:", len(graphs))

# %% [markdown]
# The result is the same as with the break. So a break is no error. What it takes away is the view of the whole: a
# backend gets one graph at a time, can't merge `sin` with `relu` when they are in different graphs, and has to write
# `y` to memory between them.
#
# Do not care about a break in code that seldom runs. Care about one in the middle of your model's forward, which runs
# at every step. Where you want no break at all, `fullgraph=True` makes it an error:

# %%
try:
    torch.compile(report, backend="eager", fullgraph=True)(x)
except torch._dynamo.exc.Unsupported as error:
    print("Unsupported:", str(error).splitlines()[0])
