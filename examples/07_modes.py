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

import torch
import torch._inductor.utils
from torch._dynamo.utils import counters

device = "cuda" if torch.cuda.is_available() else "cpu"
MODES = ("default", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune")
options = torch._inductor.list_mode_options()
for mode in MODES:
    print(f"{mode:27}", ", ".join(f"{name}={value}" for name, value in options[mode].items()) or "no options")

# %% [markdown]
# So there are only two ingredients:
#
# - **CUDA graphs** (`triton.cudagraphs`): record the kernels of a call once, then start them all with one command.
# - **Autotuning** (`max_autotune`, `coordinate_descent_tuning`): build several versions of a kernel, run each of them,
#   and keep the fastest.
#
# `mode="default"` is not a slow mode: fusion and all other optimisations are in it.
#
# ## What a mode costs
#
# The function below is a chain of small layers. It needs many kernels, each with little to do. We measure how long it
# takes to compile it, with empty caches, and how long a call takes.


# %%
def layers(x, weights):
    for weight in weights:
        x = torch.tanh(x @ weight)
    return x


def synchronize():
    if device == "cuda":
        torch.cuda.synchronize()


def seconds_of(function, *args):
    synchronize()
    start = time.perf_counter()
    function(*args)
    synchronize()
    return time.perf_counter() - start


fresh_cache = getattr(torch._inductor.utils, "fresh_cache", None) or torch._inductor.utils.fresh_inductor_cache
x = torch.rand(64, 64, device=device)
weights = [torch.rand(64, 64, device=device) / 64 for _ in range(20)]
