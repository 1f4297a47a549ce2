"""Sizes that change: when torch compiles again, and when it does not.

Compiled code is made for one size first, then for a size that is a variable. This lesson shows when each happens, what
a variable size looks like in the graph, what fixes a size again, and what to do about sizes that depend on data.

Explains: recompiles, GB0039, constraints-violated, GB0036, data-dependent-guard, data-dependent-control-flow
"""

# %% [markdown]
# ## The first size is fixed, the second makes it a variable
#
# A *backend* is a function that gets every graph that torch compiles. The one below keeps the graphs, and with them the
# conditions on sizes that torch noted while it made them.

# %%
import logging
import os
import re
import statistics
import tempfile
import time

import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
torch._logging.set_logs(all=logging.CRITICAL)  # errors are printed by the lesson itself
graphs, guards = [], []


# %%
def keeping(graph_module, example_inputs):
    graphs.append(graph_module)
    symbols = [one for one in example_inputs if isinstance(one, torch.SymInt)]
    guards.append([str(guard.expr) for guard in symbols[0].node.shape_env.guards] if symbols else [])
    return graph_module.forward


def fresh(function, **options):
    torch.compiler.reset()  # forget what was compiled
    graphs.clear()
    guards.clear()
    return torch.compile(function, backend=keeping, **options)


def call(what, function, *args):
    before = len(graphs)
    result = function(*args)
    print(f"{what:28} {'compiled' if len(graphs) > before else '-'}")
    return result


# %% [markdown]
# Now one function is called with several numbers of rows. Look at which calls compile.


# %%
def twice(x):
    return torch.cat([x, x]).relu()


compiled = fresh(twice)
for rows in (4, 5, 6, 7):
    call(f"{rows} rows", compiled, torch.ones(rows, 3))

# %% [markdown]
# Two compilations, for any number of sizes. The first call says nothing about which sizes will change, so torch takes
# them all as fixed. The second call shows that the number of rows changes, and torch makes this dimension a variable.
# Its name for that is *automatic dynamic*. Here are the sizes in both graphs.


# %%
def sizes(graph_module):
    for node in graph_module.graph.nodes:
        value = node.meta.get("example_value")
        if isinstance(value, torch.Tensor):
            print(f"    {node.name:8} {tuple(value.shape)}")


for number, graph in enumerate(graphs, 1):
    print(f"graph {number}")
    sizes(graph)

# %% [markdown]
# In the second graph the number of rows is a symbol (`s` and a number), and what is computed from it is a formula. The
# 3 columns stayed a number, because they never changed.
#
# One trap: sizes that are equal in the first call get the *same* symbol.


# %%
def total(x, y):
    return x.sum() + y.sum()


compiled = fresh(total, dynamic=True)
call("4 and 4", compiled, torch.ones(4), torch.ones(4))
call("5 and 5", compiled, torch.ones(5), torch.ones(5))
call("5 and 6", compiled, torch.ones(5), torch.ones(6))
sizes(graphs[0])

# %% [markdown]
# A batch of 64 texts that happen to be 64 words long costs one more compilation later. Use example inputs whose sizes
# differ.
#
# ## 0 and 1 are never a variable
#
# `dynamic=True` makes sizes variables from the first call on. Two sizes are left out.

# %%
compiled = fresh(twice, dynamic=True)
for rows in (5, 2, 1, 0, 1000):
    call(f"{rows} rows", compiled, torch.ones(rows, 3))
sizes(graphs[1])

# %% [markdown]
# A size of 1 changes what operators do (such a dimension is broadcast), and a tensor of size 0 has no elements at all.
# So torch compiles for each of the two separately, and a variable stands for sizes from 2 up. The graph above is the
# one for 1 row: the 1 stayed a number, while the columns are a symbol now. There is nothing to do about it, and seldom
# a reason to: it is one compilation each.
#
# ## An `if` on a size is a guard
#
# A size is known when torch compiles, so `if x.shape[0] > 10` is no graph break. Torch follows the branch that the size
# of this call takes, and keeps the condition as a guard: a check before each later call.


# %%
def branches(x):
    if x.shape[0] > 10:
        return x.sin()
    return x.cos()


compiled = fresh(branches, dynamic=True)
for rows in (4, 9, 11, 5000, 2):
    result = call(f"{rows} rows", compiled, torch.ones(rows))
    assert torch.equal(result, branches(torch.ones(rows)))
print("guards:", *guards)

# %% [markdown]
# One version for each branch, and no more for other sizes. A loop over a size is another matter. Torch unrolls it: the
# graph has the body once for each turn, so the length of the loop must be a number.


# %%
def unrolled(x):
    for row in range(x.shape[0]):
        x = x + row
    return x


compiled = fresh(unrolled, dynamic=True)
for rows in (4, 5, 6):
    call(f"a loop over {rows} rows", compiled, torch.ones(rows))

# %% [markdown]
# Each size needs a version of its own, and torch gives up after 8 of them (GB0039). Write such a loop as one operator
# on the whole tensor.
#
# ## Say what you know
#
# You can tell torch before the first call. `mark_dynamic` makes one dimension of one tensor a variable; `mark_static`
# and `dynamic=False` keep sizes fixed.


# %%
def compilations(mark=None, dynamic=None):
    compiled = fresh(twice, dynamic=dynamic)
    for rows in (4, 5, 6, 7):
        x = torch.ones(rows, 3)
        if mark is not None:
            mark(x, 0)
        compiled(x)
    return len(graphs)


print("nothing said: ", compilations())
print("mark_dynamic: ", compilations(mark=torch._dynamo.mark_dynamic))
print("dynamic=True: ", compilations(dynamic=True))
print("mark_static:  ", compilations(mark=torch._dynamo.mark_static))
print("dynamic=False:", compilations(dynamic=False))

# %% [markdown]
# `mark_dynamic` is the better choice when you know the dimension: it saves a compilation, and leaves all other sizes
# fixed, where `dynamic=True` made the columns a symbol too. It is a promise that torch checks. If the code fixes the
# size, torch does not compile again and again, but raises an error.


# %%
def fixes(x):
    return x + torch.ones(4, 3)


x = torch.ones(4, 3)
torch._dynamo.mark_dynamic(x, 0)
try:
    fresh(fixes)(x)
except RuntimeError as error:
    print(type(error).__name__)
    print(re.search("You marked .*?[.] ", str(error))[0].strip())

x = torch.ones(4, 3)
torch._dynamo.maybe_mark_dynamic(x, 0)
fresh(fixes)(x)
print("maybe_mark_dynamic:")
sizes(graphs[0])

# %% [markdown]
# `x` must have 4 rows, because it is added to a tensor with 4 rows. `maybe_mark_dynamic` is the mark without the
# promise: torch fixed the size and went on.
#
# ## What a variable size costs
#
# The default backend, Inductor, knows less about a variable size. Does that make slow code? And what do the
# compilations cost? The first measurement runs a function on four sizes with three settings. Each setting gets its own
# constant, so that none finds the code of another in the cache on disk.


# %%
def normalise(x, constant):
    for _ in range(3):
        x = torch.relu(x - x.mean(dim=1, keepdim=True)) * constant + x
    return x


def seconds(function, *args):
    start = time.perf_counter()
    function(*args)
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - start


folder = tempfile.TemporaryDirectory()
os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder.name  # an empty cache, so that everything is compiled
torch.set_num_threads(1)  # other programs on the machine disturb one thread less
torch.compile(lambda x: x + 1)(torch.ones(2, device=device))  # load the compiler
unit = 100 if device == "cpu" else 5000
inputs = [torch.randn(rows * unit, 512, device=device) for rows in (10, 11, 12, 13)]

# %%
fixed = torch.compile(lambda x: normalise(x, 0.25), dynamic=False)
default = torch.compile(lambda x: normalise(x, 0.5))
variable = torch.compile(lambda x: normalise(x, 0.75), dynamic=True)

settings = {"dynamic=False": fixed, "default": default, "dynamic=True": variable}
cost = {name: sum(seconds(function, x) for x in inputs) for name, function in settings.items()}
for name, spent in cost.items():
    print(f"{name + ':':14} ≈ {spent / cost['dynamic=False']:.0%} of the time of dynamic=False")

# %%
times = {name: [] for name in settings}
for _ in range(30):
    for name, function in settings.items():
        times[name].append(seconds(function, inputs[2]))
median = {name: statistics.median(spent) for name, spent in times.items()}
for name, spent in median.items():
    print(f"a call after that, {name + ':':14} ≈ {spent / median['dynamic=False']:.2f} times as long")

# %% [markdown]
# The percentages are about the first calls: four compilations, two, and one. A compilation with variable sizes is more
# work than one with fixed sizes, so one instead of four does not mean a quarter of the time. The other numbers are
# about the calls afterwards, and near 1 means that a variable size costs nothing. By default the rows alone are a
# variable here. With `dynamic=True` the columns are too, and the mean is taken over them, so the compiler does not know
# the length of that loop. If the last number is the largest, that is the likely reason, and one more for
# `mark_dynamic`.
#
# Keep sizes fixed if they never change, or if there are fewer than 8 and each is used for a long time. Padding all
# inputs to a few sizes is the usual way to have both.
#
# ## Sizes that depend on data
#
# All of this holds for the sizes of inputs. The size of `x.nonzero()` depends on what is *in* `x`, so it is not known
# before the operator has run. By default torch breaks the graph there (GB0036). A switch puts the operator into the
# graph.


# %%
def doubled_positions(x):
    return x.relu().nonzero() * 2


fresh(doubled_positions)(torch.ones(8))
print("graphs by default:", len(graphs))

torch._dynamo.config.capture_dynamic_output_shape_ops = True
compiled = fresh(doubled_positions, fullgraph=True)
call("2 positions", compiled, torch.tensor([1.0, 0, 0, 0, 0, 0, 0, 3]))
call("8 positions", compiled, torch.ones(8))
call("no position", compiled, torch.zeros(8))
sizes(graphs[0])

# %% [markdown]
# By default there were two graphs, with `nonzero` run by Python between them. With the switch there is one. The size is
# a symbol again, but with a `u`: it is *unbacked*, which means that no example value stands behind it. One version
# serves all counts, even 0. The price: torch cannot answer questions about it. With `fullgraph=True`, a branch that was
# a guard above is an error here, because no check before the call can know the answer.


# %%
def branch_on_count(x):
    positions = x.nonzero()
    if positions.shape[0] > 3:
        return positions * 2
    return positions * 3


def promised(x):
    positions = x.nonzero()
    torch._check(positions.shape[0] > 3)
    if positions.shape[0] > 3:
        return positions * 2
    return positions * 3


# %%
try:
    fresh(branch_on_count, fullgraph=True)(torch.ones(8))
except torch._dynamo.exc.UserError as error:
    print(re.search(r"Could not guard on data-dependent expression \w+ > \w+", str(error))[0])

compiled = fresh(promised, fullgraph=True)
assert torch.equal(compiled(torch.ones(8)), torch.ones(8).nonzero() * 2)
print("with torch._check it compiles")
try:
    compiled(torch.zeros(8))
except RuntimeError as error:
    print("a broken promise is a", type(error).__name__)

# %% [markdown]
# `torch._check` tells the compiler a fact, and the fact is checked when the graph runs. So use it for what is always
# true, such as a mask that is never empty. When both answers are possible, leave `fullgraph=True` out and accept the
# graph break: it costs little if the graphs on both sides are large. Often the best way is to have no unknown size at
# all: `torch.where(mask, x, 0)` keeps the size of `x`, where `x[mask]` does not.
