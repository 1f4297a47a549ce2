"""A compiled model without Python.

`torch.export` writes a model down whole, AOTInductor compiles it ahead of time into one file, and a C++ program loads
that file and runs it. This lesson does all of it, and compares the results and the times.

Explains: export-side-effects, export-dynamic-shapes, data-dependent-guard
"""

# %%
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import torch

warnings.simplefilter("ignore", FutureWarning)  # torch's own, about its own code
device = "cuda" if torch.cuda.is_available() else "cpu"

# %% [markdown]
# `torch.compile` compiles when your function is called, in the process that calls it. That needs Python, a compiler,
# and time. For a server or a phone you want the opposite: compile once, and ship a file.
#
# ## Write the model down
#
# `torch.export` follows the model once, as `torch.compile` does, but it may not break: what it can't trace is an error.
# The first dimension is to be dynamic, so it gets a name.


# %%
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(64, 256)
        self.second = torch.nn.Linear(256, 16)

    def forward(self, x):
        hidden = self.first(x)
        return self.second(hidden * torch.sigmoid(hidden) + torch.tanh(hidden) * 0.5)


torch.manual_seed(0)
torch.set_num_threads(1)
model = Model().eval().to(device)
batch = torch.export.Dim("batch", min=1, max=1024)
program = torch.export.export(model, (torch.randn(8, 64, device=device),), dynamic_shapes={"x": {0: batch}})
print([node.name for node in program.graph.nodes if node.op == "call_function"])
rows, columns = program.graph.output_node().args[0][0].meta["val"].shape
print("the output has a symbol and a number:", isinstance(rows, torch.SymInt), columns)

# %% [markdown]
# One list of operations, and the batch is a symbol: nothing in the graph knows that the example had 8 rows.
#
# ## Compile it into a file
#
# AOTInductor writes C++ for the graph (on a GPU: with Triton kernels), compiles it into a shared library, and packs
# that with the weights.

# %%
folder = Path(tempfile.mkdtemp())
package = Path(torch._inductor.aoti_compile_and_package(program, package_path=str(folder / "model.pt2")))
print(package.name, "is there:", package.exists())

# %% [markdown]
# Python can load it. The outputs are equal, also for batches that were never seen.

# %%
compiled = torch._inductor.aoti_load_package(str(package))
with torch.inference_mode():
    for size in (1, 8, 100):
        x = torch.randn(size, 64, device=device)
        torch.testing.assert_close(compiled(x), model(x))
        print(f"batch {size}: equal to eager")

# %% [markdown]
# ## Run it from C++
#
# `examples/cpp/ahead_of_time/run_model.cpp` has 90 lines. These are the three that matter:
#
# ```cpp
# torch::inductor::AOTIModelPackageLoader compiled("model.pt2");
# std::vector<torch::Tensor> inputs{x};
# torch::Tensor y = compiled.run(inputs).at(0);
# ```
#
# It is built against the libtorch that came with `pip install torch`. CMake finds it with
# `torch.utils.cmake_prefix_path`. If torch was built for CUDA, it wants the CUDA toolkit to be there, too.

# %%
tools = [name for name in ("cmake", "c++") if shutil.which(name) is None]
if tools:
    sys.exit(f"{' and '.join(tools)} not found: this lesson compiles C++. Debian has them in `cmake` and `g++`.")
source = Path.cwd() / "examples" / "cpp" / "ahead_of_time"
build = folder / "build"
configure = ["cmake", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={torch.utils.cmake_prefix_path}"]
for command in (configure, ["cmake", "--build", build]):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"CMake says: {' '.join(done.stderr.split())[-600:]}")
print("built:", (build / "run_model").name)

# %% [markdown]
# The C++ program gets the inputs and Python's outputs as files, and has the same model in libtorch's C++ API beside it.

# %%
torch.save(dict(model.cpu().state_dict()), folder / "weights.pt")
model.to(device)
python = {}
with torch.inference_mode():
    for size in (1, 8, 256):
        x = torch.randn(size, 64, device=device)
        torch.save(x.cpu(), folder / f"input-{size}.pt")
        torch.save(model(x).cpu(), folder / f"output-{size}.pt")
        rounds = []
        for _ in range(7):
            start = time.perf_counter()
            for _ in range(50):
                model(x)
            if device == "cuda":
                torch.cuda.synchronize()
            rounds.append((time.perf_counter() - start) / 50 * 1e6)
        python[size] = statistics.median(rounds)
command = [build / "run_model", package, folder, *map(str, python)]
done = subprocess.run(command, check=True, capture_output=True, text=True)
print("batch   differences      eager in C++   compiled in C++   (times as fast as eager Python)")
for line in done.stdout.splitlines():
    size, compiled_off, eager_off, compiled_time, eager_time = map(float, line.split())
    assert max(compiled_off, eager_off) < 1e-5
    eager = python[int(size)]
    print(f"{size:5.0f}   below 0.00001      ≈ {eager / eager_time:<10.1f}   ≈ {eager / compiled_time:.1f}")
shutil.rmtree(folder)

# %% [markdown]
# With a batch of one, most of the time of eager Python is Python, and leaving that out is most of the gain. With a
# large batch the matrix products take the time on a CPU. They are the same library calls everywhere, so little is left
# to win. A GPU does them in no time. There the gain comes from starting fewer kernels, for any of these batches.
#
# **When to use it.** For serving without Python, and for a start without compilation. For training, and for code that
# breaks, use `torch.compile`: it may break the graph where export has to refuse.
