"""torch.compile in ten minutes.

What a graph is, why it breaks, what that costs, and what to do about it. Every claim on this page is shown by a program
that was run.

Explains: recompiles, frame-skipped, GB0025, GB0059, GB0170, GB0124
"""

# %%
import logging
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch

from repro_runner.explain import explain
from repro_runner.graphs.drawing import draw_graph
from repro_runner.graphs.life import Life

# %% [markdown]
# ## What a graph is
#
# PyTorch runs your model line by line: Python calls an operation, the operation runs, Python calls the next one.
# `torch.compile` looks at a whole function first. It follows the Python code once, writes down which tensor operations
# it would call, and gives that list, the **graph**, to a compiler.

# %%
graphs = []


def show_and_run(graph, _inputs):
    """A backend: it gets each graph, and returns what is to run instead."""
    graphs.append(graph)
    print(graph.code.strip())
    return graph


def f(x, scale):
    y = x.sin() + x.cos()
    return y * scale


compiled = torch.compile(f, backend=show_and_run)
result = compiled(torch.ones(3), 2.0)
assert torch.equal(result, f(torch.ones(3), 2.0))

# %% [markdown]
# That is all a graph is: a function with tensor operations in it, and nothing else. `2.0` has become a part of it. The
# same graph as a picture:

# %%
draw_graph(graphs[0], "The graph of f")

# %% [markdown]
# ## Why a graph breaks
#
# A graph has no Python in it. If the next step depends on something that only Python can do, or on a number that is not
# known before the graph runs, the list has to end there. That is a **graph break**. Torch then compiles the part before
# it, lets Python run the line, and starts another graph after it. Your program still gives the right result.

# %%


def g(x):
    y = x.sin() + 1
    print("the mean is", y.mean().round(decimals=3))
    return (y * 2).relu()


life = Life()
compiled_g = life.compile(g)
for size in (3, 3, 4):
    compiled_g(torch.ones(size))
life.draw("Three calls of a function with a graph break")

# %% [markdown]
# Each row is a call, from left to right.
#
# - In the **first call** torch compiles: one graph up to `print`, another one after it. Between them Python runs.
# - The **second call** has an input of the same kind. Nothing is compiled any more, but each call has to leave the
#   first graph, run `print`, and enter the second.
# - The **third call** has another size. The graphs were made for three numbers, so torch makes new ones. That is a
#   **recompile**, and something else than a break: a break is about the code, a recompile is about its inputs.
#
# After the second size torch makes graphs for any size, so another size compiles nothing. [Dynamic
# shapes](dynamic-shapes.html) has the details.
#
# ## How you notice
#
# Torch says nothing about breaks, unless you ask: `TORCH_LOGS=graph_breaks python train.py`. With `fullgraph=True` a
# break is an error. Either way you get this:

# %%
try:
    torch.compile(g, backend="eager", fullgraph=True)(torch.ones(3))
except Exception as error:
    said = str(error).partition("\n\nfrom user code")[0]
    print(said)

# %% [markdown]
# The last line is a link to a page of this site. Each break has an id and a page: the smallest program that causes it,
# what torch prints, and fixes that were run and gave the same result as plain PyTorch. If you have only a part of the
# text, [paste it](../paste.html).
#
# ## What a break costs
#
# A break costs three things: the time to leave a graph and enter the next one, the chance to join operations on both
# sides of it into one loop, and a longer compilation. Here is the same arithmetic with and without a break, compiled by
# Inductor, torch's own compiler.

# %%
device = "cuda" if torch.cuda.is_available() else "cpu"


def whole(x):
    x = (x * 2 + 1).relu()
    return (x * 3 - 1).relu()


def broken(x):
    x = (x * 2 + 1).relu()
    torch._dynamo.graph_break()
    return (x * 3 - 1).relu()


def seconds_per_call(function, x, calls=50):
    start = time.perf_counter()
    for _ in range(calls):
        function(x)
    if device == "cuda":
        torch.cuda.synchronize()
    return (time.perf_counter() - start) / calls


def compare(x):
    functions = [torch.compile(whole), torch.compile(broken)]
    for function in functions:
        function(x)
    rounds = [[seconds_per_call(function, x) for function in functions] for _ in range(7)]
    return sorted(with_break / without for without, with_break in rounds)[3]


print(f"16 numbers: the break makes a call ≈ {compare(torch.ones(16, device=device)):.1f} times as long")
print(f"4 million numbers: ≈ {compare(torch.ones(4_000_000, device=device)):.1f} times as long")

# %% [markdown]
# With few numbers the call is all overhead, and the break adds to it. With many numbers it costs because the two halves
# can't become one loop: the numbers are read and written twice.
#
# **When not to care.** A break in code that runs once (loading, printing a summary) costs nothing that matters. A break
# between two big matrix products costs a few microseconds out of milliseconds. Care about breaks in what runs often and
# is made of small operations, about breaks inside loops, and about functions that torch gives up as a whole.
#
# ## Breaks in functions that are called
#
# Torch follows calls: a function that yours calls becomes a part of the same graph. If there is a break inside of it,
# the graph of the caller ends at the call, and the called function gets graphs of its own.

# %%


def helper(x):
    torch._dynamo.graph_break()
    return x.sin()


def h(x):
    x = x + 1
    x = helper(x)
    return x * 2


life = Life()
life.compile(h)(torch.ones(3))
life.draw("One call of a function that calls one with a break")

# %% [markdown]
# `x + 1`, `x.sin()` and `x * 2` are three graphs of one operation each.
#
# ## When a whole function is given up
#
# In some blocks torch can't stop and go on later: in many `with` and `try` blocks, and in loops. A break in there makes
# it give up the whole function. Python runs it, and torch tries again only in the functions that it calls.

# %%


class Lock:
    def __enter__(self):
        return self

    def __exit__(self, *problem):
        return None


def locked(x):
    x = x + 1
    with Lock():
        x = helper(x)
    return x * 2


life = Life()
life.compile(locked)(torch.ones(3))
life.draw("One call of a function that is given up")

# %% [markdown]
# The only graph is that of `x.sin()` in `helper`. `x + 1` and `x * 2` are in none: one break, deep inside, has cost the
# whole function around it. `graphbreak explain` calls this *frame skipped*.
#
# ## From the warning to the fix
#
# `graphbreak explain` runs your script, and names each line that breaks, with its page and a fix that fits. In a
# program or a notebook it is a `with` block:

# %%
logging.getLogger("torch._dynamo").setLevel(logging.ERROR)
with explain() as report:
    torch.compile(g, backend="eager")(torch.ones(3))
for site in report:
    print(f"{site.gb_id} at `{site.source}` ({site.kind})")

# %% [markdown]
# `--fix` tries fixes on your own lines, and keeps those that give the same results with fewer breaks. Here it is on a
# script:

# %%
script = """import torch

@torch.compile(backend="eager")
def step(x):
    if x.sum() > 0:
        x = x * 2
    else:
        x = x - 1
    return x.relu()

step(torch.ones(4))
"""
with tempfile.TemporaryDirectory() as folder:
    Path(folder, "train.py").write_text(script)
    command = [sys.executable, "-m", "repro_runner", "explain", "--fix", "train.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env={"PYTHONPATH": str(Path.cwd())})
lines = done.stdout.splitlines()
first = next(number for number, line in enumerate(lines) if line.startswith("fix "))
last = next(number for number, line in enumerate(lines) if line.startswith(("try ", "page ")))
print("\n".join(lines[first:last]))

# %% [markdown]
# So the way is: **run** `graphbreak explain` (or ask torch with `TORCH_LOGS=graph_breaks`), **sort** by what it costs
# (`--cost`), **fix** what is in your own code, **read the page** of what is not, and **keep** what you have won:
# `graphbreak explain --fail-on-break` in your tests fails when a break comes back.
#
# If a break can't be fixed, [the escape hatches](escape-hatches.html) say how to live with it. If results are wrong or
# the compiler crashes, read [when it goes wrong](going-wrong.html).
