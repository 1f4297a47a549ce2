"""When something goes wrong: which tool, and in which order.

A compiled program can be slower than it should be, raise an error, or compute other numbers. This lesson goes through
the tools for each, on small programs that go wrong on purpose.

Explains: GB0059, recompiles, backend-compiler-failed, wont-convert, wrong-results, internal-error
"""

# %% [markdown]
# ## It is too slow: look for breaks and recompilations
#
# Neither is an error, so torch is silent about them until you ask. From a shell you ask with
# `TORCH_LOGS=graph_breaks,recompiles python train.py`. In a program it is `torch._logging.set_logs`. The logs are long:
# `log_lines` keeps the lines that matter, and cuts off the time and the folders.

# %%
import contextlib
import importlib
import io
import itertools
import os
import re
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

import torch


def log_lines(function, pattern, **logs):
    with contextlib.redirect_stderr(io.StringIO()) as text:
        torch._logging.set_logs(**logs)
        function()
        torch._logging.set_logs()  # back to the defaults
    lines = (re.sub(r"^\S+ \S+ \d+ \S+\] (\[\S+\] )*", "", line) for line in text.getvalue().splitlines())
    return [re.sub(r" \S*/(?=\w+\.py)|  +#.*", " ", line) for line in lines if re.match(pattern, line)]


def step(x, scale):
    x = x.sin()
    print("a step")
    return x * scale


compiled = torch.compile(step, backend="eager")
pattern = "Graph break in|Failed to| For more"
for line in log_lines(lambda: compiled(torch.ones(4), 2.0), pattern, graph_breaks=True):
    print(line.strip().replace(": https", ":\n    https"))

# %% [markdown]
# The log names the line and the kind of break. Each kind has an id and a page on this site, with ways out. Now the
# recompilations. We call the same function with another number, and then with another length.


# %%
def other_arguments():
    compiled(torch.ones(4), 3.0)
    compiled(torch.ones(5), 3.0)


for line in log_lines(other_arguments, r"Recompiling| +- \d+/\d+: ", recompiles=True):
    print(line)

# %% [markdown]
# Each block says which function was compiled again, and which **guard** failed: a condition under which an older
# version was valid. (`1/0` is version 0 of function 1.) `scale == 2.0` is a guard, because `scale` is a plain number.
# The names that begin with `torch_dynamo_resume` are the part of `step` after the break. A few recompilations in the
# first calls are normal. Many, or any that go on, need a repair: pass a tensor, or mark the dimension as dynamic.
#
# If a break must never come back, make it an error:

# %%
torch._dynamo.reset()  # forget what was compiled before
try:
    torch.compile(step, fullgraph=True, backend="eager")(torch.ones(4), 2.0)
except torch._dynamo.exc.Unsupported as error:
    print(f"{type(error).__name__}: {str(error).splitlines()[0]}")

# %% [markdown]
# That is good for a test. For a whole program the log is better, because an error stops at the first break. This
# project has a tool for it: `graphbreak explain` runs a script, and lists each break with its place in your source, how
# often it ran, and fixes that were tried. Here are the first lines.

# %%
temporary = tempfile.TemporaryDirectory()
folder = Path(temporary.name)
(folder / "train.py").write_text("""\
import torch

@torch.compile(backend="eager")
def step(x):
    x = x.sin()
    if x.sum() > 0:
        x = x * 2
    return x

step(torch.ones(4))
""")


def graphbreak(*arguments):
    project = Path(__file__).resolve().parents[1]
    command = [sys.executable, "-m", "repro_runner", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(project)}
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    return ended.stdout.splitlines() or ["not run:", "", ended.stderr.strip().splitlines()[-1]]


_, _, *lines = graphbreak("explain", "train.py")
print("\n".join(itertools.takewhile(lambda line: not line.startswith("what"), lines)))

# %% [markdown]
# ## It raises an error: is it the compiler?
#
# We need something that fails. This is a backend for a device that does not know the op `cumsum`, and a model that
# uses it. Both are files, so that other processes can load them.

# %%
(folder / "toy_device.py").write_text("""\
def toy_backend(graph, inputs):
    for node in graph.graph.nodes:
        if node.op == "call_method" and node.target == "cumsum":
            raise NotImplementedError("this device has no cumsum")
    return graph
""")
(folder / "lesson_model.py").write_text("""\
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.LayerNorm(8))

    def forward(self, x):
        return (self.layers(x).softmax(-1).cumsum(-1) * 2).sin()

def make():
    return Model(), (torch.rand(4, 8),)
""")
sys.path.insert(0, str(folder))
toy_backend = importlib.import_module("toy_device").toy_backend
model, inputs = importlib.import_module("lesson_model").make()
compiled = torch.compile(model, backend=toy_backend)
try:
    compiled(*inputs)
except torch._dynamo.exc.BackendCompilerFailed as error:
    failed = error
    print(f"{type(error).__name__}: {str(error).splitlines()[0]} {str(error).splitlines()[1]}")

# %% [markdown]
# `BackendCompilerFailed` means: Dynamo has done its part, and then the backend raised the error that is named behind
# it. The first question is always whether the program is right **without** the compiler. A stance switches it off,
# without a change to the model. From a shell, `TORCHDYNAMO_DISABLE=1` does the same to a whole program.

# %%
with torch.compiler.set_stance("force_eager"):
    result = compiled(*inputs)
print("without the compiler:", tuple(result.shape))

program = """
import torch, lesson_model, toy_device
model, inputs = lesson_model.make()
print(tuple(torch.compile(model, backend=toy_device.toy_backend)(*inputs).shape))
"""
environment = {**os.environ, "TORCHDYNAMO_DISABLE": "1"}
ended = subprocess.run([sys.executable, "-c", program], cwd=folder, env=environment, capture_output=True, text=True)
print("with TORCHDYNAMO_DISABLE=1:", ended.stdout.strip())

# %% [markdown]
# If it fails here too, the fault is in your own code, and eager's error message is the better one. In our case it
# works, so the compiler is to blame.
#
# ## Which part of the compiler?
#
# The backends form a ladder. `eager` only runs Dynamo (tracing and guards). `aot_eager` adds the graphs for gradients.
# `inductor` adds the loops that are written for your machine. The lowest step that fails has the fault. The same works
# for wrong numbers. For that, `sloppy_backend` loses some digits on purpose.


# %%
def sloppy_backend(graph, inputs):  # noqa: ARG001 - torch passes them
    return lambda *args: [output.half().float() for output in graph(*args)]


expected = model(*inputs)
for backend in ("eager", "aot_eager", "inductor", sloppy_backend, toy_backend):
    torch._dynamo.reset()
    try:
        got = torch.compile(model, backend=backend)(*inputs)
        outcome = "fine" if torch.allclose(got, expected, atol=1e-5) else "other numbers"
    except torch._dynamo.exc.TorchDynamoException as error:
        outcome = type(error).__name__
    print(f"{getattr(backend, '__name__', backend):15} {outcome}")

# %% [markdown]
# All of torch's own steps are fine, so the faults are in the two backends of this lesson. Small differences in the last
# digits are normal for Inductor, since it adds in another order. Compare with a tolerance, not with `==`.
#
# ## Read the whole error
#
# Torch cuts the traceback down to your own lines. For a fault in torch or in a backend you want all of it:
# `TORCHDYNAMO_VERBOSE=1`, or `torch._dynamo.config.verbose`. The cause is also kept in the exception.


# %%
def frames_of_error():
    torch._dynamo.reset()
    try:
        torch.compile(model, backend=toy_backend)(*inputs)
    except torch._dynamo.exc.BackendCompilerFailed as error:
        return traceback.extract_tb(error.__traceback__)


short = frames_of_error()
with torch._dynamo.config.patch(verbose=True):
    long = frames_of_error()
print("verbose has more frames:", len(long) > len(short))
print("the cause:", repr(failed.inner_exception))
print("raised in:", traceback.extract_tb(failed.inner_exception.__traceback__)[-1].name)

# %% [markdown]
# ## Make it small
#
# A whole model is no good bug report. `graphbreak minify` removes operations as long as the failure stays the
# same, writes what is left as a script, and runs that script to prove it. (Torch has a minifier of its own,
# `TORCHDYNAMO_REPRO_AFTER`.) Here is the result, and the middle of the script.

# %%
arguments = ("lesson_model.py:make", "--backend", "toy_device:toy_backend", "--kind", "compile", "--out", "small.py")
print("\n".join(line for line in graphbreak("minify", *arguments) if not line.startswith("run ")))
if (folder / "small.py").exists():
    print("...", *re.findall(r"^def f.*?(?=^def results)", (folder / "small.py").read_text(), re.M | re.S))

# %% [markdown]
# One operation is left of the model. Such a script is what the people who made the backend need. When the numbers are
# wrong, `--kind numeric` does the same for them, and `graphbreak diff` names the first op that differs.
#
# ## Until it is repaired
#
# `suppress_errors` makes torch fall back to eager when a backend fails.

# %%
torch._dynamo.reset()
with torch._dynamo.config.patch(suppress_errors=True):
    for line in log_lines(lambda: torch.compile(model, backend=toy_backend)(*inputs), "WON'T"):
        print(line)

# %% [markdown]
# The program goes on, without the compiler in that function, and prints a warning, which is easy to miss.
# Don't leave this on: it hides each new fault, and you think that you run compiled code. `torch.compiler.disable` on
# the one function that fails does the same, in a place that everybody can see.
#
# ## The order
#
# 1. It is slow. Where are the breaks and recompilations? `TORCH_LOGS=graph_breaks,recompiles`, `graphbreak explain`.
# 2. It raises an error, or its numbers are wrong. Is it the compiler? `set_stance("force_eager")`,
#    `TORCHDYNAMO_DISABLE=1`.
# 3. It is the compiler. Which part? `backend="eager"`, then `"aot_eager"`, then `"inductor"`.
# 4. It is a backend. Where, and by which op? `TORCHDYNAMO_VERBOSE=1`, `graphbreak minify`.
# 5. The fault is reported, but not repaired. How do I go on? `torch.compiler.disable` on that function.
