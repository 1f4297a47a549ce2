"""What the first call costs, and when it pays off.

The first call of a compiled function is slow, all others are fast. This lesson measures both, and shows what makes
torch compile again.

Explains: GB0039, recompiles
"""

# %% [markdown]
# `torch.compile` does nothing when you call it. The work is done when the compiled function is called.

# %%
import time

import torch


def f(x):
    return (x.sin() + 1).relu()


compiled = torch.compile(f, backend="eager")
x = torch.ones(4)
start = time.perf_counter()
compiled(x)
cold = time.perf_counter() - start
start = time.perf_counter()
compiled(x)
warm = time.perf_counter() - start
print(f"the first call took ≈ {cold / warm:.0f} times as long as the second")
