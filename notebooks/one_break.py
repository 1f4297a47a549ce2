# %% [markdown]
# # Run the program of a page
#
# Write the id of your page into the first cell and run all cells. You see the program that breaks the graph, what torch
# prints, and the result of each fix. Then change the program and run it again.

# %%
GB_ID = "GB0170"

# %%
import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path

if importlib.util.find_spec("repro_runner") is None:  # in Colab
    address = "git+https://github.com/meta-pytorch/compile-graph-break-site"
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", address], check=True)


def graphbreak(*words):
    command = [sys.executable, "-m", "repro_runner", *words]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout


script = graphbreak("show", GB_ID, "--script")
print(script)

# %% [markdown]
# ## What it prints
#
# The break as torch tells it, then the result of each fix, which is compiled with `fullgraph=True`.

# %%
seeded = f"import torch; torch.manual_seed(0)\n{script}"
print(subprocess.run([sys.executable, "-"], input=seeded, capture_output=True, text=True).stdout)

# %% [markdown]
# ## Does your torch do what the page says?
#
# This runs all programs of the id, and compares each fix with eager mode: the results, the gradients and the side
# effects, for many inputs. The page says on which releases the same was found.

# %%
with tempfile.TemporaryDirectory() as folder:
    verdicts = graphbreak("run", GB_ID, "--out", str(Path(folder, "runs.json")))
print(verdicts.splitlines()[-1])

# %% [markdown]
# ## Change it
#
# The program comes into a new cell below. Change it there, and run that cell.

# %%
from IPython import get_ipython

get_ipython().set_next_input(script)
