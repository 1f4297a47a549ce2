"""Ways round code that can't be traced, compared.

Some Python can't go into a graph. There are many ways to tell torch what to do with it, and they differ in what they
keep: one graph, the gradients, the side effects. Here each of them is tried on one and the same function.

Explains: skipped-functions-and-compiler-controls, c-code-and-custom-operators, GB0059, GB0098, leaf-function-arguments
"""

# %% [markdown]
# The trouble in this lesson is `normalise`, a function that prints. Dynamo, the part of torch that traces Python, can't
# put `print` into a graph. So it ends the graph there and starts another: a graph break. The compiled function is
# always `normalise(x.sin()).cos()`. We ask six questions each time:
#
# - **graphs**: how many are there? One is best.
# - **numbers**, **gradients**: are they those of eager?
# - **prints**: does it still print in a call after the first, when nothing is traced any more?
# - **new global**: does it notice that the global `factor` has changed?
# - **peek**: how many graphs are there with a second function, `peek`, which looks at the numbers in a tensor?

# %%
import contextlib
import io
import warnings

import torch

warnings.filterwarnings("ignore")  # those of torch about itself, so that only results are shown
device = "cuda" if torch.cuda.is_available() else "cpu"
factor = 2.0
graphs = []


def normalise(x):
    print("normalising")
    return x / x.norm() * factor


def peek(x):
    return x * 2 if x.sum() > 100 else x * 3  # which of the two: that depends on the numbers


def backend(graph, inputs):
    graphs.append(graph)
    return torch._dynamo.lookup_backend("aot_eager")(graph, inputs)


# %% [markdown]
# The backend keeps the graphs to be counted. It runs them with `aot_eager`, which uses the ops of eager, so that the
# numbers can be compared to the last bit. `ask` has the questions, and `wrap` is what we do to the function.


# %%
def compiled(wrap, function):
    torch._dynamo.reset()
    graphs.clear()
    helper = wrap(function)
    return torch.compile(lambda x: helper(x.sin()).cos(), backend=backend)


def ask(wrap):
    global factor
    x, y = (torch.linspace(-1, 1, 8, device=device, requires_grad=True) for _ in range(2))
    function = compiled(wrap, normalise)
    got, expected = function(x), normalise(y.sin()).cos()
    yield str(len(graphs))
    yield torch.equal(got, expected)
    (got.sum() + expected.sum()).backward()
    yield torch.allclose(x.grad, y.grad)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        function(x)
    yield "normalising" in printed.getvalue()
    factor = 3.0
    yield torch.equal(function(x), normalise(y.sin()).cos())
    factor = 2.0
    assert torch.equal(compiled(wrap, peek)(x), peek(y.sin()).cos())
    yield str(len(graphs))


# %% [markdown]
# First without any help:

# %%
QUESTIONS = ("graphs", "numbers", "gradients", "prints", "new global", "peek")
table = {}


def compare(name, wrap):
    with contextlib.redirect_stdout(io.StringIO()):
        answers = [{True: "yes", False: "no"}.get(answer, answer) for answer in ask(wrap)]
    table[name] = dict(zip(QUESTIONS, answers, strict=True))
    print(f"{name}:\n   ", ", ".join(f"{question} {answer}" for question, answer in table[name].items()))


compare("nothing", lambda function: function)

# %% [markdown]
# Everything is right, in three graphs: what stands before `print`, the rest of `normalise`, and the rest of its caller.
# **A graph break is not an error.** It costs time in each call, and nothing is fused across it. If this code runs
# once in a second, you need no way round.
#
# ## Keep it out of the graph
#
# `torch.compiler.disable` says: don't even try. Dynamo does not look inside, and the function runs in eager.

# %%
compare("torch.compiler.disable", torch.compiler.disable)

# %% [markdown]
# All is right, and there are two graphs, before and after the function. Nothing inside it is compiled, however much
# it computes. So put it round the smallest function that holds the trouble.
#
# ## Put it into the graph without a look inside
#
# `allow_in_graph` writes the call into the graph unread. Later stages of the compiler trace through it, with tensors
# that have shapes but no numbers. `nonstrict_trace` does the same, and also takes arguments that are no tensors, such
# as your own classes. Both mark the function that they get, so `copy_of` keeps their marks off `normalise`.


# %%
def copy_of(function):
    return lambda x: function(x)


compare("allow_in_graph", lambda function: torch.compiler.allow_in_graph(copy_of(function)))
compare("nonstrict_trace", lambda function: torch._dynamo.nonstrict_trace(copy_of(function)))
assert table["allow_in_graph"]["peek"] == table["nonstrict_trace"]["peek"] == table["nothing"]["peek"]

# %% [markdown]
# One graph, with right gradients. But read on. The `print` ran only while the function was compiled. Worse, the new
# value of the global was **not noticed**: the result is wrong, without an error. Dynamo checks in each call only what
# it has seen, and it has not seen the global. And `peek` has as many graphs as without help, since there are no numbers
# to look at. Use these two only for functions that compute with their arguments and do nothing else, but whose Python
# Dynamo does not know.
#
# ## Make an operator of it
#
# A custom operator is a closed box. Torch never looks inside, and runs it as it is in each call. You tell torch the
# shape of the result (`register_fake`) and the gradient (`register_autograd`).


# %%
def keep_inputs(ctx, inputs, output):  # noqa: ARG001 - torch passes it
    ctx.save_for_backward(*inputs)


def backward(ctx, grad):  # the gradient of normalise, worked out by hand
    (x,) = ctx.saved_tensors
    unit = x / x.norm()
    return (grad - unit * (grad * unit).sum()) * factor / x.norm()


def as_operator(function, name="", gradient=backward):
    operator = torch.library.custom_op(
        f"lesson::{name or function.__name__}", function, mutates_args=(), schema="(Tensor x) -> Tensor"
    )
    operator.register_fake(torch.empty_like)
    if gradient:
        operator.register_autograd(gradient, setup_context=keep_inputs)
    return operator


compare("torch.library.custom_op", as_operator)

# %% [markdown]
# All answers are those of eager, with one graph. The price is your work, and that ops inside the box are not fused
# with those outside. If you leave the gradient out, you learn of it only in the backward pass:

# %%
unfinished = as_operator(copy_of(normalise), name="unfinished", gradient=None)
x = torch.ones(3, device=device, requires_grad=True)
try:
    torch.compile(unfinished, backend="aot_eager")(x).sum().backward()
except RuntimeError as error:
    print(next(line for line in str(error).splitlines() if "backward" in line)[:98])

# %% [markdown]
# **Leaf functions** are newer. They are such a box too, but eager's own autograd works inside it, so there is no
# gradient to be written.

# %%
leaf_function = getattr(torch._dynamo.decorators, "leaf_function", None)


def as_leaf(function):
    leaf = leaf_function(lambda x: (function(x),))  # must return a tuple
    leaf.register_fake(lambda x: (torch.empty_like(x),))
    return lambda x: leaf(x)[0]


if leaf_function:
    compare("leaf_function", as_leaf)
    try:
        torch.compile(as_leaf(peek))(x)  # with Inductor, the default backend
        print("with Inductor: works")
    except Exception as error:
        print("with Inductor:", type(error).__name__)
else:
    print("this torch has no leaf functions")

# %% [markdown]
# Where leaf functions exist, they pass every test here. But look at the last line before you rely on them: the
# documentation of torch 2.13 says that Inductor, the default backend, does not support them yet.
#
# ## If it is only a print
#
# There are three ways for output alone. Functions in `reorderable_logging_functions` are called when the graph has run.
# `torch.compiler.is_compiling()` is true while code is traced, so that code for eager alone can be skipped. And newer
# releases have a `print` that is an op of the graph, still under a private name.


# %%
def silent_normalise(x):
    if not torch.compiler.is_compiling():
        print("normalising")
    return x / x.norm() * factor


def normalise_with_op(x):
    torch._higher_order_ops.print("normalising")
    return x / x.norm() * factor


torch._dynamo.config.reorderable_logging_functions.add(print)
compare("reorderable_logging_functions", lambda function: function)
torch._dynamo.config.reorderable_logging_functions.discard(print)
compare("is_compiling", lambda function: silent_normalise if function is normalise else function)
if hasattr(torch._higher_order_ops, "print"):
    compare("print as an op", lambda function: normalise_with_op if function is normalise else function)
else:
    print("this torch has no print that is an op")

# %% [markdown]
# All give one graph and right numbers. `is_compiling` is silent on purpose. The first should print: if it says `prints
# no`, your torch (2.11 and 2.13 do this) loses what is printed in a function that the compiled function calls. A
# `print` in the compiled function itself is kept, but it comes late:


# %%
def loud_backend(graph, inputs):  # noqa: ARG001 - torch passes them
    def run(*args):
        print("(the graph runs)")
        return graph(*args)

    return run


@torch.compile(backend=loud_backend)
def announce(x):
    print("before: the sum is", x.sum())
    return x.sin()


torch._dynamo.config.reorderable_logging_functions.add(print)
announce(torch.ones(3))
torch._dynamo.config.reorderable_logging_functions.discard(print)

# %% [markdown]
# What was to be printed before the sine is printed after it. The value is right, the moment is not. So don't do this
# with a function that reads the clock or a file.
#
# ## Switches that leave the function as it is
#
# `set_stance("force_eager")` turns all compiled functions off for a while. `error_on_graph_break` turns breaks into
# errors, as `fullgraph=True` does. Unlike that, it can be set for a part of the code, and taken back in a part of the
# part.

# %%
with torch.compiler.set_stance("force_eager"):
    compare('set_stance("force_eager")', lambda function: function)

try:
    compiled(torch._dynamo.error_on_graph_break(True), normalise)(x)
except torch._dynamo.exc.Unsupported as error:
    print("error_on_graph_break:", type(error).__name__, "-", str(error).splitlines()[0])

# %% [markdown]
# With the first, every answer is eager's, because it is eager. With the second, the break is an error with its reason.
# The other way round, everything must be one graph apart from one place that we know of:


# %%
@torch._dynamo.error_on_graph_break(False)
def known_trouble(x):
    return normalise(x)


@torch._dynamo.error_on_graph_break(True)
def strict(x):
    return known_trouble(x.sin()).cos()


graphs.clear()
torch.compile(strict, backend=backend)(x)
print("more than one graph:", len(graphs) > 1, "- and no error")

# %% [markdown]
# ## All of them

# %%
print(" " * 30, *(f"{question:10}" for question in QUESTIONS))
for name, answers in table.items():
    print(f"{name:30}", *(f"{answer:10}" for answer in answers.values()))

# %% [markdown]
# How to choose:
#
# 1. Leave it, if it runs rarely. Or move the trouble to the caller, before or after the compiled function. That is
#    always right, and any release of torch can do it.
# 2. A log line: `is_compiling`, or one of the other two if you want to see it.
# 3. Code that does something else than compute (files, other libraries, numbers from tensors): `custom_op`, if one
#    graph is worth the work. Otherwise `torch.compiler.disable`, which can't go wrong and costs one break.
# 4. Tensor code that only Dynamo can't read: `nonstrict_trace`. First check that it reads no global, no closure and no
#    attribute that changes later.
# 5. `error_on_graph_break` belongs in tests, so that a new break is seen. `force_eager` belongs in the search for a
#    fault: if eager is wrong too, the compiler is not to blame.
