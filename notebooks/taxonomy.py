# %% [markdown]
# # Every kind of graph break, with an example that was run
#
# The registry sorts the graph breaks that torch can report into 18 kinds. For each kind this notebook runs a small
# program that breaks so, and the same work written in a way that compiles as one graph. Everything is run here, by the
# torch that is installed.

# %%
import contextlib
import importlib.util
import logging
import subprocess
import sys
import textwrap

if importlib.util.find_spec("repro_runner") is None:  # in Colab
    address = "git+https://github.com/meta-pytorch/compile-graph-break-site"
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", address], check=True)

import torch

from registry.knowledge import read_package
from registry.merge import merge_registry
from registry.snippets import take_apart
from registry.versions import version_key
from repro_runner.capture import capture_breaks
from repro_runner.environment import describe_environment
from repro_runner.runner.machine import Finished, ReproRun, open_pool

logging.getLogger("torch._dynamo").setLevel(logging.ERROR)  # breaks are printed below
device = "cuda" if torch.cuda.is_available() else "cpu"

# %% [markdown]
# ## What a graph break is
#
# `torch.compile` runs your Python code once with stand-ins for the tensors, and records the tensor operations as a
# graph. The part of torch that does so is called Dynamo. At a line that it can't record it ends the graph, lets Python
# run the line, and starts another graph behind it. That is a graph break. Your results stay right. What you lose is
# speed: operations on both sides can't be fused, and each graph is called on its own.
#
# `capture_breaks` names each break that is met inside a block. Here it is the `if`: the numbers in `x` are not known
# while the graph is recorded.


# %%
def clip(x):
    if x.sum() > 1:
        x = x / x.sum()
    return x.sin()


with capture_breaks() as breaks:
    torch.compile(clip, backend="eager")(torch.ones(4, device=device))
for one in breaks:
    print(f"{one.gb_id}, {one.gb_type}: {one.stack[-1].source}")

# %% [markdown]
# The backend `eager` runs a graph as it is. That is enough here, since graphs are cut before a backend sees them.
#
# The id, here GB0170, is the same in all programs. The registry has a page for each id, and for most of them a program
# that causes it, with fixes that were run. `show(kind)` takes one of a kind: the id that most programs of other people
# were seen to hit, and if none was seen, the id that is named. It prints the function that breaks and a fix. Then it
# runs them: the function with `torch.compile`, to capture every break, and the fix with `fullgraph=True`, which raises
# an error if there is any. The results of the fix are compared with those of the function in eager, on three inputs.

# %%
registry = merge_registry(read_package())
release = describe_environment("cpu")["torch"]
tried = sorted({one.torch for one in registry.environments}, key=version_key)
nearest = [one for one in tried if version_key(one) <= version_key(release)][-1]  # all programs were run on it
shown = set()
stack = contextlib.ExitStack()
pool = stack.enter_context(open_pool(device))  # each program runs in processes of its own

OUTCOMES = {
    "resumed": "Python ran the line, and torch went on behind it",
    "frame skipped": "torch gave the function up, and Python ran all of it",
    "fatal": "torch raised an error",
}


def programs_that_hit(gb):
    return len({seen.name for seen in gb.sightings})


def holds_here(gb):
    runs = (run for run in gb.fresh_evidence if run.environment.torch == nearest)
    return any(run.verdicts.get("eager") == "verified" for run in runs)


def choose(key, otherwise):
    """Of a kind, the id that most programs were seen to hit, if its fix holds on this release; else the named one."""
    breaks = {gb.gb_id: gb for gb in registry.in_category(key)}
    seen = [gb for gb in breaks.values() if gb.sightings and holds_here(gb)]
    return max(seen, key=programs_that_hit, default=breaks.get(otherwise))


def run(gb):
    """What happens when the program of an id is run here."""
    job = ReproRun(program=gb.gb_id, source=gb.repro.source, device=device).to_job()
    return Finished.of(pool.run(job)).record


def print_code(title, *parts):
    print(f"\n{title}:")
    print(textwrap.indent("\n\n".join(filter(None, parts)), "    "))


def show(key, otherwise=""):
    shown.add(key)
    gb = choose(key, otherwise)
    program, record = take_apart(gb.repro), run(gb)
    fix = program.fixes[0]
    print(f"{gb.gb_id}  {gb.gb_type}")
    print(textwrap.fill(gb.repro.lead, 100))
    if gb.sightings:
        print(f"Programs of other people that hit it: {programs_that_hit(gb)}")
    called = f"torch.compile(broken, {program.compile_options})" if program.compile_options else ""
    print_code("breaks", *program.config, program.broken.code, called)
    print_code(f"works, by a {fix.kind}", fix.settings, fix.code)
    print()
    if "fixes" not in record:
        print(f"not run here: {record['cause']}")
        return
    reported = sorted({*record["ids"], *record["ids_fullgraph"]}, key=lambda gb_id: (gb_id != gb.gb_id, gb_id))
    held = record["fixes"][fix.name]
    print(f"torch reported: {', '.join(reported)}; {OUTCOMES.get(record.get('kind'), 'no break')}")
    print(f"{fix.name} compiles as one graph: {held['compiles'] and not held['breaks']}, equals eager: {held['equal']}")


# %% [markdown]
# Three things to know when you read the outputs. A program may report more than one id, since a break may surface as
# another, or be followed by another. Of an id's fixes, the first is shown. And an example is small on purpose: the same
# id may look quite different in a large program.

# %% [markdown]
# ## Data-dependent control flow and dynamic shapes
#
# While a graph is recorded, the numbers in a tensor are not known; only its shape, dtype and device are. An `if`, an
# index or a size that needs such a number can't be decided.
#
# **Way out:** keep the decision among the tensors, with `torch.where` or `torch.cond`. Where Python must have the
# number, a flag lets the graph carry it as an unknown (`capture_scalar_outputs` for `.item()`,
# `capture_dynamic_output_shape_ops` for sizes).

# %%
show("data-dependent-control-flow")

# %% [markdown]
# ## Skipped functions and compiler controls
#
# Dynamo skips some functions on purpose: you, a library or PyTorch marked them. You and libraries do this with
# `torch.compiler.disable`; PyTorch has a list of modules.
#
# **Way out:** the message names the function. Take the control away if its reason is gone. If the function must stay
# closed to the compiler, make it a custom operator: then it is one step of the graph.

# %%
show("skipped-functions-and-compiler-controls", "GB0098")

# %% [markdown]
# ## Side effects and mutation
#
# A graph computes outputs from inputs. Writing a log, changing a global or swapping a tensor's memory is something
# else, and torch must replay it afterwards in the right order. Where it can't be sure of that, it breaks.
#
# **Way out:** return the new value and let the caller store or log it, or do so before or after the compiled call.
# Prefer operations that make a new tensor to those that replace the memory of an old one.

# %%
show("side-effects-and-mutation", "GB0058")

# %% [markdown]
# ## Exceptions, assertions and other Python features
#
# Dynamo is a Python interpreter of its own, and it does not cover the whole language. Graphs can't raise, and some uses
# of exceptions, assertions and imports have no rule.
#
# **Way out:** check inputs before the compiled call, ask with `if` where an exception only steers the program, and put
# imports and unusual constructs at module level.

# %%
show("exceptions-and-python-features", "GB0034")

# %% [markdown]
# ## Built-in functions and data structures
#
# Lists, dicts and strings never enter a graph. Dynamo imitates them while it records, one operation at a time, and
# breaks where it has no imitation, or where what it needs is not a constant. `print` belongs here, too.
#
# **Way out:** keep `print`, `str`, `hash` and the like out of compiled code, and use plain lists, tuples and dicts with
# plain keys. Many of these are rules that nobody has written yet. The page of each id says in which releases it breaks.

# %%
show("builtins-and-data-structures", "GB0059")

# %% [markdown]
# ## Iterators and generators
#
# A loop is unrolled while it is recorded, so the next element must be at hand at that moment. Iterators without a rule,
# endless ones and suspended generators from outside are not.
#
# **Way out:** turn the iterator into a list before the compiled call, write an iterator as a class with plain
# attributes, or replace the loop by a tensor operation.

# %%
show("iterators-and-generators", "GB0152")

# %% [markdown]
# ## Classes, attributes and type checks
#
# Reading an attribute can run any code in Python. Dynamo follows the usual rules, and must know the class and the
# attribute's name while it records. A name that is computed from a tensor is not known then.
#
# **Way out:** use plain attributes with names written in the code, define classes at module level, and build objects
# before the compiled call.

# %%
show("classes-and-attributes", "GB0190")

# %% [markdown]
# ## Context managers
#
# A `with` block must be left at the right moment, also if the graph ends in the middle of it. Dynamo can do so for
# managers that it knows and that are made where they are entered.
#
# **Way out:** make the manager in the `with` line itself, or put the `with` around the call of the compiled function.
# Of your own managers, those written with `contextlib.contextmanager` are traced.

# %%
show("context-managers", "GB0142")

# %% [markdown]
# ## Modules and parameters
#
# A module is taken as a fixed structure of submodules, parameters and buffers. Parameters that are made during
# `forward`, or attributes with special access, make that structure uncertain. Recurrent layers are left out by default.
#
# **Way out:** create everything in `__init__` and only use it in `forward`. For `RNN`, `GRU` and `LSTM`, step through
# short sequences with a cell, or set `torch._dynamo.config.allow_rnn = True`, which is experimental.

# %%
show("modules-and-parameters", "GB0264")

# %% [markdown]
# ## Torch and NumPy functions without tracing support
#
# Torch calls are recorded by running them on fake tensors, which have a shape but no data. Functions that ask for more
# than that (a data pointer, a mode of the process, a NumPy result without a counterpart) fail.
#
# **Way out:** use the torch function with the same meaning, and ask such questions before the compiled call. A custom
# operator wraps what has no counterpart.

# %%
show("torch-and-numpy-functions", "GB0046")

# %% [markdown]
# ## C code, custom operators, Triton and TorchScript
#
# Dynamo reads Python bytecode, so code written in C has nothing to read. It needs a description of what such a call
# returns.
#
# **Way out:** call it once, outside, if the result does not change. Otherwise wrap it as a custom operator with
# `torch.library.custom_op`, and describe its output with `register_fake`.

# %%
show("c-code-and-custom-operators", "GB0147")

# %% [markdown]
# ## Tensor subclasses, sparse and nested tensors
#
# The compiler is built around the dense tensor: one block of memory, sizes and strides. Sparse tensors, strided nested
# ones and some subclasses don't fit in there.
#
# **Way out:** pass dense tensors in and out, and keep the sparse part inside a custom operator. Nested tensors work
# with `layout=torch.jagged`.

# %%
show("tensor-subclasses-and-layouts", "GB0277")

# %% [markdown]
# ## Autograd, hooks, autograd.Function and torch.func
#
# The forward pass is recorded first, and the backward pass is derived from it. Code that reaches for gradients during
# the forward asks for something that is not there yet.
#
# **Way out:** compile the forward and the loss, and call `backward()` outside: the backward pass is compiled all the
# same. Set `requires_grad` and hooks before the compiled call. `detach()` serves for a part that gets no gradient.

# %%
show("autograd-and-hooks", "GB0125")

# %% [markdown]
# ## Higher-order operators
#
# `torch.cond`, the loops, `scan` and checkpointing take functions as arguments, and each becomes a graph of its own.
# Such a function must not break, and must not change anything outside itself. Here a refusal is often an error, even
# with breaks allowed.
#
# **Way out:** write these functions so that they return new tensors, of the same structure on each branch, and move
# everything else in front of the operator or behind it.

# %%
show("higher-order-operators", "GB0041")

# %% [markdown]
# ## Distributed, devices and streams
#
# A graph is made in one process. Handles of running communication, messages between two ranks, and streams and memory
# pools of a device are only partly described by it.
#
# **Way out:** in compiled code use collectives that wait for themselves, without `async_op=True`; choose devices and
# streams before the call; leave other communication between two compiled functions.

# %%
show("distributed-devices-and-streams", "GB0172")

# %% [markdown]
# ## Breaks that can't be resumed, values that can't leave
#
# After a break, torch goes on with the rest of the function. In the middle of a loop it can't, and some values that it
# only imitated can't be made real. Then it gives the whole function up. So this report often has another break as its
# cause.
#
# **Way out:** look for the first break and remove that one. If there is none, return tensors and plain containers only.
# A loop's body in a function of its own can still be compiled.

# %%
show("resuming-after-a-break", "GB7000")

# %% [markdown]
# ## Errors in the program itself
#
# Python or torch would refuse this as well: a variable without a value, wrong arguments, shapes that don't fit. Now and
# then eager would have coped, because an `except` was waiting.
#
# **Way out:** run the same call without compiling, and fix what that reports. If it reports nothing, you have found a
# gap in torch, which is worth a report to PyTorch.

# %%
show("user-errors", "GB0011")

# %% [markdown]
# ## Compiler limits and internal errors
#
# The cause is the compiler more than your code: it came into a state that its authors did not expect, or it reached a
# limit on purpose. The one that people meet is the recompile limit: after eight versions of a function, torch stops
# compiling it.
#
# **Way out:** find out what changes between calls, with `TORCH_LOGS=recompiles`. Mark sizes that vary with
# `torch._dynamo.mark_dynamic`, and pass changing numbers as tensors. Raise the limit only if so many versions are
# wanted.

# %%
show("compiler-limits-and-internal-errors", "GB0071")

# %% [markdown]
# ## All kinds in numbers
#
# How many ids each kind has, and how many of them have a fix that was run and held on at least one release. The others
# are mostly ids that newer releases do not report any more, that no program can reach, or that nobody has written a
# program for yet.

# %%
stack.close()  # ends the pool
rows = [
    (kind.title, len(ids), sum(gb.status == "verified" for gb in ids))
    for kind in registry.categories
    for ids in [registry.in_category(kind.key)]
]
assert shown == {kind.key for kind in registry.categories}  # none was left out above
rows.append(("all", *(sum(column) for column in list(zip(*rows, strict=True))[1:])))
print(f"{'kind':<64}{'ids':>5}{'with a verified fix':>21}")
for title, ids, fixed in rows:
    print(f"{title:<64}{ids:>5}{fixed:>21}")

# %% [markdown]
# To find the breaks of your own model, and their kinds, see the notebook `detector`.
