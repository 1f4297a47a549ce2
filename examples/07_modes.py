"""What the modes of torch.compile change, and what they cost.

`mode="reduce-overhead"` and `mode="max-autotune"` sound as if everybody should use them. This lesson shows what they
set, what that costs, and when they do nothing at all.

Explains: cudagraph-skipped, cudagraph-overwritten, cudagraph-sizes, autotune-choice-failed, slow-compilation
"""

# %% [markdown]
# A mode is a short name for a few options of Inductor, the default backend. Torch can list them.

# %%
import contextlib
import io
import re
import statistics
import time
import warnings

import torch
from torch._dynamo.utils import counters
from torch._inductor.utils import fresh_cache, run_and_get_code

warnings.filterwarnings("ignore", message="TensorFloat32")
device = "cuda" if torch.cuda.is_available() else "cpu"
MODES = ("default", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune")
options = torch._inductor.list_mode_options()
for mode in MODES:
    print(f"{mode}:", ", ".join(options[mode]) or "nothing")

# %% [markdown]
# So there are only two ingredients:
#
# - **CUDA graphs** (`triton.cudagraphs`): record the kernels of a call once, then start all of them with one command.
# - **Autotuning** (`max_autotune`, `coordinate_descent_tuning`): build several versions of a kernel, time each of them,
#   and keep the fastest.
#
# `mode="default"` sets nothing, but it is not a slow mode. Fusion and all other optimisations are part of it.
#
# ## On a CPU: nothing but a name
#
# There are no CUDA graphs on a CPU. Torch does not raise an error. It skips them without a word, and counts that. The
# cell compiles one function in each mode and compares the loops that Inductor wrote.


# %%
def pointwise(x):
    return torch.relu(x * 2 + 1)


def loops_and_skips(mode):
    torch._dynamo.reset()
    counters.clear()
    _, programs = run_and_get_code(torch.compile(pointwise, mode=mode), torch.rand(1000))
    return re.findall(r"'''(.*?)'''", programs[0], re.DOTALL), counters["inductor"]["cudagraph_skips"]


expected, _ = loops_and_skips("default")
for mode in MODES:
    loops, skips = loops_and_skips(mode)
    print(f"{mode:27} the same loops: {loops == expected}, CUDA graphs skipped: {skips}")

# %% [markdown]
# All modes give the same program here. For a CPU, leave `mode` alone. (Autotuning can matter for matrix products on
# some CPUs. Measure it before you believe it.)
#
# ## What a mode costs, and what it gains
#
# The next function is a chain of small layers. It needs many kernels, and each of them has little to do. We compile it
# in several modes with empty caches, and then time a call. On a CPU only two modes are tried, to save your time.


# %%
def layers(x, weights):
    for weight in weights:
        x = torch.tanh(x @ weight)
    return x


def seconds_of(function, *inputs):
    if device == "cuda":
        torch.cuda.synchronize()
    start = time.perf_counter()
    function(*inputs)
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - start


x = torch.rand(64, 64, device=device)
weights = [torch.rand(64, 64, device=device) / 64 for _ in range(20 if device == "cuda" else 4)]
functions, first = {"eager": layers}, {}
log = io.StringIO()  # autotuning writes long reports
with fresh_cache():
    torch.compile(lambda x: torch.tanh(x @ x))(x)  # what is needed once in a process is not counted below
for mode in MODES if device == "cuda" else MODES[:2]:
    functions[mode] = torch.compile(layers, mode=mode)
    with fresh_cache(), contextlib.redirect_stderr(log):
        first[mode] = seconds_of(functions[mode], x, weights)
    print(f"{mode:27} first call: ≈ {first[mode] / first['default']:.1f} times as long as in the default mode")

# %% [markdown]
# Now calls of what was compiled, all of them in turn. The first ten of each are left out: a CUDA graph is recorded in
# the second call.

# %%
times = {name: [] for name in functions}
for _ in range(60):
    for name, function in functions.items():
        times[name].append(seconds_of(function, x, weights))
medians = {name: statistics.median(each[10:]) for name, each in times.items()}
for name in functions:
    print(f"{name:27} ≈ {medians['eager'] / medians[name]:.1f} times as fast as eager")
choices = re.findall(r"for (\d+) choices", log.getvalue())
print("versions of the matrix product that autotuning timed:", choices[0] if choices else "none, there is no GPU")

# %% [markdown]
# On a GPU, look at the two modes with CUDA graphs. The kernels of this function are short, so the GPU waits for Python
# to start the next one. The default mode does not help with that, and can even be slower than eager. One command for
# all kernels does help. Autotuning took most of the time of its first call, for products that a library does well
# already. It pays for big products that run for hours, or where ops can be fused with the product.
#
# On a CPU there is little to gain: the matrix products are calls of a library, whatever the mode. On such small data
# the compiled function can be slower than eager.
#
# ## Why a CUDA graph is skipped
#
# A recorded graph repeats the same kernels on the same addresses, and nothing else. What does not fit is left out.
# Torch says why in a log: `TORCH_LOGS=cudagraphs`. The cell asks for it, for one function that fits and three that may
# not.


# %%
def with_cpu_tensor(x):
    return (x @ x).cpu().sin().to(x.device) @ x


def changes_its_input(x):
    x.add_(1)
    return x @ x


class ChangesItsBuffer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(1, device=device))

    def forward(self, x):
        self.calls += 1
        return x @ x + self.calls


def fits(x):
    return (x @ x).sin()


def cudagraph_log(function, inputs, **settings):
    torch._dynamo.reset()
    compiled = torch.compile(function, mode="reduce-overhead", **settings)
    with contextlib.redirect_stderr(io.StringIO()) as text:
        torch._logging.set_logs(cudagraphs=True)
        for one in inputs:
            compiled(one)
        torch._logging.set_logs()
    return text.getvalue()


cases = {"fits": fits, "CPU tensor": with_cpu_tensor, "changes x": changes_its_input, "buffer": ChangesItsBuffer()}
for name, function in cases.items():
    if device == "cuda":
        text = cudagraph_log(function, [torch.rand(64, 64, device=device) for _ in range(3)])
        reasons = re.findall(r"skipping cudagraphs due to ([\w ]+\w)|reason=([\w ]+),", text)
        print(f"{name:10}", ", ".join(sorted({a or b for a, b in reasons})) or "nothing is skipped")
    else:
        print(f"{name:10} no GPU, so there is nothing to record")

# %% [markdown]
# On an H200 with torch 2.11 the reasons are `cpu ops` and `DeviceCopy ops` for the CPU tensor, and `mutated inputs`
# where `x` is changed. They differ in what is lost. Around ops on the CPU torch splits the graph, and records the parts
# before and after them. Where an input is changed it records nothing, since the next input may be at another address.
# A buffer or a parameter of a module stays where it is, so it may be changed.
#
# A graph is recorded for one size. With dynamic shapes, each new size is recorded again:

# %%
if device == "cuda":
    text = cudagraph_log(fits, [torch.rand(n, n, device=device) for n in (8, 9, 10, 11, 8, 9)], dynamic=True)
    print("6 calls with 4 sizes, recordings:", text.count("Recording cudagraph tree for symint key"))
else:
    print("no GPU")

# %% [markdown]
# Each recording takes time and memory. Torch warns when there are many. Pad the inputs to a few sizes, or use another
# mode for such a function.
#
# ## A trap: the result is overwritten
#
# Same kernels, same addresses: the next call writes its result where the last one is. Torch guards the old tensor.

# %%
if device == "cuda":
    torch._dynamo.reset()
    compiled = torch.compile(fits, mode="reduce-overhead")
    old = compiled(x)
    compiled(x)
    try:
        print(old.sum())
    except RuntimeError as error:
        print("RuntimeError:", str(error)[:90])
else:
    print("no GPU")

# %% [markdown]
# If you keep results, `clone()` them before the next call. Between steps of a training loop,
# `torch.compiler.cudagraph_mark_step_begin()` says that older results are no longer needed.
#
# ## Which mode?
#
# - Begin with the default. It compiles fastest, and has no traps.
# - `reduce-overhead`: on a GPU, for many small kernels, fixed sizes and no changed inputs, such as inference with small
#   batches. Its price is memory, and results that must be cloned.
# - `max-autotune-no-cudagraphs`, `max-autotune`: on a GPU, for a program that runs much longer than it takes to tune.
#   Measure against the default before you keep it.
# - On a CPU: none.
