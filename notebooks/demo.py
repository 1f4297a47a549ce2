# %% [markdown]
# # From a breaking model to a verified fix
#
# A script has a model whose graph breaks in three places. `graphbreak explain --fix` finds them, tries fixes on the
# script's own lines, and keeps those that hold. Then both versions are run and compared, and the same command becomes a
# guard in CI.

# %%
import importlib.util
import json
import logging
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

if importlib.util.find_spec("repro_runner") is None:  # in Colab
    address = "git+https://github.com/meta-pytorch/compile-graph-break-site"
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", address], check=True)

import torch

# %% [markdown]
# ## A script with a model
#
# The script is written to a folder of its own, as if it were yours. Read `forward`: somebody forgot a
# `graph_break()` there, it branches on a tensor, and it takes a number out of a tensor. Each of the three ends a graph.
# The backend `eager` runs graphs as they are, so no C++ compiler is needed here. These lines break the graph with every
# backend, because the graph is cut before a backend sees it.

# %%
SCRIPT = """\
import torch


class Scorer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(16, 16) for _ in range(2))

    def forward(self, x):
        x = torch.relu(self.layers[0](x))
        torch._dynamo.graph_break()
        x = torch.relu(self.layers[1](x))

        threshold = 0.1
        if x.mean() > threshold:
            x = x - x.mean()
        else:
            x = x * 2

        x = x.exp()
        weights = x + 1
        peak = x.max().item()
        return weights / peak


if __name__ == "__main__":
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = torch.compile(Scorer().to(device), backend="eager")
    with torch.no_grad():
        for _ in range(3):
            model(torch.randn(8, 16, device=device))
"""
place = tempfile.TemporaryDirectory()
folder = Path(place.name)
for name in ("score.py", "score_fixed.py"):  # the second is fixed below
    (folder / name).write_text(SCRIPT)

# %% [markdown]
# ## Where it breaks, and what holds
#
# `--fix` runs the script, and then runs it again with the fixes that it knows for such lines. A fix is kept only if the
# script has fewer breaks with it, as much work in graphs, and equal outputs. Your file is never edited. The report is
# asked for as JSON here, to print the part that matters; without `--format` the command shows it as text, with torch's
# messages and hints.


# %%
def graphbreak(*arguments):
    """Run the command in the folder, as you would in a terminal."""
    print("$ graphbreak", *arguments)
    command = [sys.executable, "-m", "repro_runner", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


graphbreak("explain", "--fix", "--format", "json", "--out", "breaks.json", "score.py")
report = json.loads((folder / "breaks.json").read_text("utf-8"))
sites = sorted(report["sites"], key=lambda site: site["line"])
for site in sites:
    fix = site["own_fix"]
    print(f"\nline {site['line']}: {site['gb_ids'][0]}, {site['source']}")
    print("    fix:", fix["title"] or fix["why_none"])
print(f"\nbreaks before: {len(sites)}, with all fixes: {sites[0]['own_fix']['breaks_after']}")

# %% [markdown]
# Three breaks, and a fix for each that was run. A fix comes as a diff of your own lines:

# %%
for site in sites:
    print(site["own_fix"]["diff"])

# %% [markdown]
# Read a diff before you take it. `torch.where` computes both arms each time, which is cheap here and would not be if an
# arm were a large model. A flag such as `capture_scalar_outputs` holds for all code in the process.
#
# ## Apply the diffs
#
# They are ordinary diffs, so `git apply` takes them. (`graphbreak explain --report handover/ score.py` writes the whole
# fixed script for you, with a report and a small program for each break. It takes longer.)

# %%
for diff in filter(None, (site["own_fix"]["diff"] for site in sites)):
    diff = diff.replace("/score.py", "/score_fixed.py")
    subprocess.run(["git", "apply", "-"], cwd=folder, input=diff, text=True, check=True)
text = (folder / "score_fixed.py").read_text()
print(text[text.index("    def forward") : text.index("if __name__")].rstrip())

# %% [markdown]
# ## Run both
#
# Both models get the same weights and the same inputs. The backend counts the graphs that it is given.

# %%
logging.getLogger("torch._dynamo").setLevel(logging.ERROR)  # the report above says it, too
torch.set_num_threads(1)  # steadier times
device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(1)
batches = [torch.randn(8, 16, device=device) for _ in range(4)]


def load(name):
    """Import a script of the folder, and compile its model. Returns the model, the compiled one, and its graphs."""
    specification = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    torch.manual_seed(0)
    model, graphs = module.Scorer().to(device), []

    def backend(graph, _inputs):
        graphs.append(graph)
        return graph.forward

    return model, torch.compile(model, backend=backend), graphs


@torch.no_grad()
def outputs_of(model):
    return [model(batch) for batch in batches]


original, compiled, graphs = load("score")
expected = outputs_of(original)
torch.testing.assert_close(outputs_of(compiled), expected)
_, fixed, fixed_graphs = load("score_fixed")
torch.testing.assert_close(outputs_of(fixed), expected)
print("graphs before:", len(graphs))
print("graphs after: ", len(fixed_graphs))
print("outputs of both: equal to those of the model that is not compiled")
assert len(graphs) > 3 and len(fixed_graphs) == 1

# %% [markdown]
# Before, there is a graph for each piece between the breaks, and some pieces have more than one: each arm of the branch
# that was taken has its own, and the last piece was compiled anew when `.item()` gave another number. After, there is a
# single graph for all calls.
#
# What do the breaks cost? At each of them Python takes over, and then checks whether the next graph fits. This backend
# fuses nothing, so the first ratio is that price, less what `torch.where` pays for computing both arms.


# %%
def seconds(model):
    if device == "cuda":
        torch.cuda.synchronize()
    start = time.perf_counter()
    outputs_of(model)
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - start


compiled_before = len(graphs), len(fixed_graphs)
times = [(seconds(compiled), seconds(fixed), seconds(original)) for _ in range(200)]
assert compiled_before == (len(graphs), len(fixed_graphs))  # nothing was compiled meanwhile
broken_time, fixed_time, eager_time = (statistics.median(each) for each in zip(*times, strict=True))
print(f"time with breaks over time without: ≈ {broken_time / fixed_time:.2f}")
print(f"time without breaks over eager:     ≈ {fixed_time / eager_time:.2f}")

# %% [markdown]
# The second ratio keeps the first in proportion: this backend makes nothing faster, and on a model this small the call
# into compiled code costs something. What the fixes give to a backend such as Inductor is one graph in place of
# several, in which it may fuse across the former breaks.
#
# ## Keep it so
#
# In CI, `--fail-on-break` makes the command fail if there is a break. Its exit code is 1 for the script as it was, and
# 0 for the fixed one.

# %%
for name, expected_code in (("score.py", 1), ("score_fixed.py", 0)):
    done = graphbreak("explain", "--fail-on-break", name)
    told = [line for line in done.stderr.splitlines() if line.startswith("exit code")]
    print(f"exit code {done.returncode}", *(line.split(": ")[1] for line in told), sep=": ")
    assert done.returncode == expected_code

# %% [markdown]
# A project that has breaks already starts with `graphbreak explain --write-allow breaks.allow train.py`. From then on
# `graphbreak explain --fail-on-break --allow breaks.allow train.py` fails only if a new one comes.
