"""Ways round code that can't be traced, compared.

Some Python can't go into a graph. There are many ways to tell torch what to do with it, and they differ in what they
keep: one graph, the gradients, the side effects. Here all of them wrap one and the same function.

Explains: skipped-functions-and-compiler-controls, c-code-and-custom-operators, GB0059, leaf-function-arguments,
leaf-in-place, wrong-results
"""

# %% [markdown]
# The trouble in this lesson is `normalise`, a function that prints. Dynamo can't put `print` into a graph, so it breaks
# the graph. The compiled function is always `normalise(x.sin()).cos()`. We ask six questions each time:
#
# - How many graphs are there? One is best.
# - Are the numbers those of eager?
# - Are the gradients those of eager?
# - Does it still print in every call, not only while it is compiled?
# - Does it notice that the global `factor` has changed?
# - May the function look at numbers in a tensor? This is asked with a second function, `peek`.

# %%
import contextlib
import io

import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
factor = 2.0


def normalise(x):
    print("normalising")
    return x / x.norm() * factor


def peek(x):
    return x / float(x.detach().abs().max())  # float() needs the number itself


# %% [markdown]
# `compare` asks the questions. `wrap` is what we do to the function. The backend `aot_eager` makes graphs but runs
# them with the ops of eager, so that the numbers can be compared to the last bit.

# %%
QUESTIONS = ("graphs", "numbers", "gradients", "prints", "new global", "may peek")
table = {}


def ask(wrap):
    global factor
    graphs, answers = [], []
    x, y = (torch.linspace(-1, 1, 8, device=device, requires_grad=True) for _ in range(2))

    def backend(graph, inputs):
        graphs.append(graph)
        return torch._dynamo.lookup_backend("aot_eager")(graph, inputs)

    def compiled(function):
        torch._dynamo.reset()
        helper = wrap(function)
        return torch.compile(lambda x: helper(x.sin()).cos(), backend=backend)

    function = compiled(normalise)
    got, expected = function(x), normalise(y.sin()).cos()
    answers += [len(graphs), torch.equal(got, expected)]
    got.sum().backward()
    expected.sum().backward()
    answers.append(torch.allclose(x.grad, y.grad))
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        function(x)
    answers.append("normalising" in printed.getvalue())
    factor = 3.0
    answers.append(torch.equal(function(x), normalise(y.sin()).cos()))
    factor = 2.0
    try:
        answers.append(torch.equal(compiled(peek)(x), peek(y.sin()).cos()))
    except Exception:  # noqa: BLE001 - torch has many errors for this
        answers.append("error")
    return answers


def compare(name, wrap):
    with contextlib.redirect_stdout(io.StringIO()):
        answers = ask(wrap)
    table[name] = [{True: "yes", False: "no"}.get(one, str(one)) if one != 1 or one is True else "1" for one in answers]
    print(", ".join(f"{question}: {answer}" for question, answer in zip(QUESTIONS, table[name], strict=True)))


compare("nothing", lambda function: function)

# %% [markdown]
# Without any help everything is right, in three graphs: up to `print`, the rest of `normalise`, and the rest of its
# caller. **A graph break is not an error.** It costs time, and fusion ends at it. If this code runs once per second,
# you need no way round.
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
# ## Put it into the graph, unseen by Dynamo
#
# `allow_in_graph` writes the call into the graph without a look inside. Later stages trace through it with tensors
# that have shapes but no numbers. `nonstrict_trace` does the same, and also takes arguments that are no tensors
# (lists, dicts, your own classes).


# %%
def freshly_named(function):
    return lambda x: function(x)  # both mark the function itself; this keeps the marks off `normalise`


compare("allow_in_graph", lambda function: torch.compiler.allow_in_graph(freshly_named(function)))
compare("nonstrict_trace", lambda function: torch._dynamo.nonstrict_trace(freshly_named(function)))

# %% [markdown]
# One graph, with right gradients. But read the rest. The `print` ran only while the function was compiled. Worse, a
# new value of the global was **not noticed**: the result is wrong, and there is no error, because Dynamo makes guards
# only for what it has seen. And a function that looks at numbers raises an error. Use these two only for functions
# that compute with tensors and nothing else, and whose Python is at odds with Dynamo.
#
# ## Make an operator of it
#
# A custom operator is a box: torch never looks inside, and runs it as it is in each call. You tell it the shape of the
# result (`register_fake`) and the gradient (`register_autograd`).


# %%
def as_operator(function, gradient=True):
    name = f"lesson::{function.__name__}{'' if gradient else '_without_gradient'}"
    operator = torch.library.custom_op(name, function, mutates_args=(), schema="(Tensor x) -> Tensor")
    operator.register_fake(torch.empty_like)
    if gradient:
        operator.register_autograd(backward, setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs))
    return operator


def backward(ctx, grad):  # the gradient of normalise
    (x,) = ctx.saved_tensors
    unit = x / x.norm()
    return (grad - unit * (grad * unit).sum()) * factor / x.norm()


compare("torch.library.custom_op", as_operator)

# %% [markdown]
# Every question is answered as in eager, with one graph. The price is work: the gradient above was worked out by hand.
# And the compiler can't fuse the ops inside with those outside. If you leave the gradient out, you learn of it only
# in the backward pass:

# %%
operator = as_operator(normalise, gradient=False)
x = torch.ones(3, device=device, requires_grad=True)
try:
    torch.compile(operator, backend="aot_eager")(x).sum().backward()
except RuntimeError as error:
    print("RuntimeError:", str(error).splitlines()[0][:80])

# %% [markdown]
# Torch 2.13 has leaf functions, which are meant to spare you that work: eager autograd runs inside the box.

# %%
leaf_function = getattr(torch._dynamo.decorators, "leaf_function", None)


def as_leaf(function):
    leaf = leaf_function(freshly_named(function))
    leaf.register_fake(lambda x: torch.empty_like(x))
    return leaf


if leaf_function is None:
    print("this torch has no leaf functions")
else:
    compare("leaf_function", as_leaf)
    try:
        print(torch.compile(as_leaf(normalise))(x))  # with Inductor, the default backend
    except Exception as error:  # noqa: BLE001
        print("with Inductor:", type(error).__name__)

# %% [markdown]
# Where leaf functions exist, `aot_eager` runs them well: one graph, and no gradient to be written. Look at the second
# line before you rely on them: the documentation of torch 2.13 says that Inductor is not yet supported.
#
# ## If it is only a print
#
# Two ways are for logging alone. Functions in `reorderable_logging_functions` are called after the graph has run.
# And `torch.compiler.is_compiling()` is true while code is traced, so that eager code can be skipped.


# %%
def silent_when_compiled(function):
    def normalise_silently(x):
        if torch.compiler.is_compiling():
            return x / x.norm() * factor
        return function(x)

    return normalise_silently if function is normalise else function


torch._dynamo.config.reorderable_logging_functions.add(print)
compare("reorderable_logging_functions", lambda function: function)
torch._dynamo.config.reorderable_logging_functions.remove(print)
compare("is_compiling", silent_when_compiled)

# %% [markdown]
# Both give one graph and right numbers. If your line above says `prints: no` for the first: torch 2.13 loses what is
# printed in a function that the compiled function calls. A `print` in the compiled function itself is kept, and comes
# after everything else:


# %%
def prints_in_between(x):
    x = x.sin()
    print("in between: the sum is", round(float(x.detach().sum()), 2) if not torch.compiler.is_compiling() else x.sum())
    return x.cos()


# %% [markdown]
# ## Switches that change no code
#
# `error_on_graph_break` makes breaks errors in a part of the code, as `fullgraph=True` does for all of it. It can be
# switched off again inside, for a break that you accept. `set_stance("force_eager")` turns all compiled functions off.


# %%
