"""A compiler that you can read in one sitting.

Inductor is large. `examples/cpp/compiler` does the same in about a thousand lines of C++: it takes a graph, tidies it
up, puts operations into one loop, writes C++, compiles it and calls it. This lesson builds it and watches it work.

Explains: slow-compilation, cpp-compile-error, no-cpp-compiler
"""

# %%
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# %% [markdown]
# ## Build it
#
# It needs CMake and a C++ compiler, and no PyTorch.

# %%
missing = [name for name in ("cmake", "c++") if shutil.which(name) is None]
if missing:
    sys.exit(f"{' and '.join(missing)} not found: this lesson compiles C++. Debian has them in `cmake` and `g++`.")
source = Path.cwd() / "examples" / "cpp" / "compiler"
folder = Path(tempfile.mkdtemp())
for command in (["cmake", "-S", source, "-B", folder], ["cmake", "--build", folder, "--target", "small_compiler"]):
    subprocess.run(command, check=True, capture_output=True)


def small_compiler(program, *options):
    (folder / "program.graph").write_text(program)
    command = [folder / "small_compiler", folder / "program.graph", *options]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return done.stdout


# %% [markdown]
# ## The graph, and the passes over it
#
# A program is a list of operations, as in the graph that Dynamo hands to a backend. This one computes
# `relu(x * x + 1 / 4)`, and it is not well written on purpose.

# %%
program = """\
input x [2048, 4096]
quarter = div 1 4
square = mul x x
again = mul x x
unused = exp again
sum = add again quarter
y = relu sum
output y
"""
passes = small_compiler(program, "--passes")
print(passes.partition("\nbefore fusion")[0])

# %% [markdown]
# Three passes, as every compiler has them:
#
# - **Constant folding**: `1 / 4` is computed now, and not in each run.
# - **Common subexpressions**: `again` is `square`, so it is computed once.
# - **Dead code elimination**: `unused` is never used. What the other passes made superfluous goes, too.
#
# ## Fusion
#
# Three operations are left. One after another, each reads a whole tensor from memory and writes one. In one loop, the
# numbers stay in a register between them.

# %%
print("before fusion" + passes.partition("\nbefore fusion")[2])

# %% [markdown]
# The bytes are counted, not measured: fused, the program moves as few as any program can that reads `x` and writes `y`.
#
# ## The code
#
# This is what it writes for the fused graph. Inductor's C++ looks much like it.

# %%
code = small_compiler(program, "--code")
print(code.partition("// ---- fused ----\n")[2].partition('extern "C" void run')[0].strip())

# %% [markdown]
# ## Does it pay?
#
# A plain copy of as many bytes is the yardstick: nothing that reads `x` and writes `y` can be much faster.

# %%
print(small_compiler(program, "--run", "--bench"))
shutil.rmtree(folder)

# %% [markdown]
# Unfused, the program moves three times as many bytes, and it shows. The fused loop comes nearest to the copy; what is
# left between them is arithmetic, and a `memcpy` that was tuned for this very machine. The interpreter, which decides
# for each number anew what to do with it, is far behind.
#
# That is why `torch.compile` helps most where a model has many cheap operations in a row, and why a graph break in the
# middle of such a row costs more than its microseconds.
#
# Read on in `examples/cpp/compiler/README.md`: in which order to read the sources, how to add an operation in one line,
# and what Inductor does beyond this.
