"""Every kind of guard has words, and every value the name that the user has for it."""

from __future__ import annotations

import enum
import inspect
import itertools
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch._dynamo.guards import GuardBuilder

from repro_runner.capture.naming import CompiledFunction, name_value
from repro_runner.guards import Guard, GuardInspector
from repro_runner.guards.describing import describe
from repro_runner.guards.kinds import KINDS
from repro_runner.guards.observing import Observation
from repro_runner.guards.reading import SeenGraph, SeenGuard
from repro_runner.guards.shapes import ShapeGuard, is_lower_bound, shape_words, values_in

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def fresh_dynamo() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def torchs_kinds() -> list[str]:
    """The methods of GuardBuilder that make a guard: in capitals, with a guard as their first argument."""
    methods = {name: method for name, method in vars(GuardBuilder).items() if name.isupper() and callable(method)}
    return [name for name, method in methods.items() if "guard" in inspect.signature(method).parameters]


def test_torch_has_kinds_to_tell() -> None:
    assert len(torchs_kinds()) > 40


@pytest.mark.parametrize("kind", torchs_kinds())
def test_every_kind_of_this_torch_has_words(kind: str) -> None:
    assert kind in KINDS, f"{kind} would be told by its code; give it words in repro_runner/guards/kinds.py"
    told = KINDS[kind].words.format(name="x", fact="this", other="y")
    assert told[0].islower() and "{" not in told


def forward(self: Any, x: Any, *args: Any, n: int = 1, **kwargs: Any) -> None: ...


FORWARD = CompiledFunction.of(forward.__code__)
NAMES = [
    ("L['x']", "x", "argument of forward"),
    ("L['n']", "n", "argument of forward"),
    ("L['args'][0]", "args[0]", "argument of forward"),
    ("L['kwargs']['mask']", "mask", "argument of forward"),
    ("L['x']['ids']", "x['ids']", "argument of forward"),
    ("L['self'].step", "self.step", "attribute of self"),
    ("L['self']._modules['l']", "self.l", "attribute of self"),
    ("L['self']._modules['l']._parameters['weight']", "self.l.weight", "parameter of self.l"),
    ("L['self']._buffers['mean']", "self.mean", "buffer of self"),
    ("L['self']._modules['seq']._modules['0']._parameters['bias']", "self.seq[0].bias", "parameter of self.seq[0]"),
    ("L['self'].__dict__['step']", "self.step", "attribute of self"),
    ("object.__getattribute__(L['self'], 'step')", "self.step", "attribute of self"),
    ("getattr(L['x'], 'odd-name')", "x.odd-name", "attribute of x"),
    ("L['y']", "y", "local of forward, kept across the break"),
    ("G['np']", "np", "global"),
    ("G['np'].pi", "np.pi", "global"),
    ("G['model_ref']()", "model_ref", "global"),
    ("G['__import_torch_dot_nn_dot_functional'].relu", "torch.nn.functional.relu", ""),
    ("__import__('torch').nn", "torch.nn", ""),
    ("G['__builtins_dict___3']['len']", "len", ""),
    ("L['x'].__closure__[0].cell_contents", "k", "closed over by x"),
    ("L['x'].__closure__[0].cell_contents.scale", "k.scale", "attribute of k"),
    ("L['x'].__code__", "the code of x", "argument of forward"),
    ("L['x'].__defaults__[0]", "default 0 of x", ""),
    ("type(L['x'])", "the type of x", "argument of forward"),
    ("list(dict.keys(L['x']))[0]", "key 0 of x", ""),
    ("L['x'][list(dict.keys(L['x']))[0]]", "x[key 0 of x]", "argument of forward"),
    ("dict.__getitem__(L['x'], list(dict.keys(L['x']))[0])", "x[key 0 of x]", "argument of forward"),
    ("dict.__getitem__(L['x'], 'a')", "x['a']", "argument of forward"),
    ("list.__getitem__(L['x'], 2)", "x[2]", "argument of forward"),
    ("___tuple_iterator_getitem(L['x'], 1)", "x[1]", "argument of forward"),
    ("___from_numpy(L['x'])", "x", "argument of forward"),
    ("L['x'].size()[1]", "dimension 1 of x", "argument of forward"),
    ("L['x'].stride()[0]", "stride 0 of x", "argument of forward"),
    ("L['x'].storage_offset()", "storage offset of x", ""),
    ("<ephemeral: what>", "<ephemeral: what>", ""),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "text", "role"), NAMES, ids=[each[1] for each in NAMES])
def test_a_value_has_the_users_name(expression: str, text: str, role: str) -> None:
    named = name_value(expression, FORWARD, {"L['x'].__closure__[0].cell_contents": "k"})
    assert (named.text, named.described(FORWARD)) == (text, role)


def test_the_rest_of_a_function_after_a_break_has_the_functions_name_and_the_line_of_the_break() -> None:
    code = forward.__code__.replace(co_name="torch_dynamo_resume_in_forward_at_12", co_filename="model.py")
    function = CompiledFunction.of(code)
    assert (str(function), function.source) == ("forward, resumed after a break", "model.py:12")
    assert name_value("L['x']", function).described(function) == "local of forward, kept across the break"
    assert name_value("L['___stack0']", function).text == "value 0 of the expression that broke"


RELATIONS = [
    ("2 <= L['x'].size()[0]", "dimension 0 of x is at least 2"),
    ("L['x'].size()[0] <= 512", "dimension 0 of x is at most 512"),
    ("2 <= L['x'].size()[0] <= 512", "dimension 0 of x is between 2 and 512"),
    ("L['x'].size()[0] == L['n']", "dimension 0 of x is equal to n"),
    ("5 == L['n']", "n is equal to 5"),
    ("L['n'] != 0", "n is not 0"),
    ("L['n'] < 3", "n is less than 3"),
    ("3 < L['n']", "n is greater than 3"),
    ("(L['x'].size()[0] % 8) == 0", "dimension 0 of x is divisible by 8"),
    ("((2*L['x'].size()[1]) % 3) != 0", "(2 × dimension 1 of x) is not divisible by 3"),
    ("L['x'].stride()[0] == L['x'].size()[1]*4", "stride 0 of x is equal to (dimension 1 of x × 4)"),
    ("Max(1, L['n']) == 4", "Max(1, n) is equal to 4"),
    ("-L['n'] <= 1", "-n is at most 1"),
    ("L['n'] >= 2 and L['n'] <= 9", "n is at least 2 and n is at most 9"),
    ("L['n'] < L['x'].size()[0] < 9", "n is less than dimension 0 of x and dimension 0 of x is less than 9"),
    ("not a ( expression", "not a ( expression"),
]


@pytest.mark.parametrize(("expression", "words"), RELATIONS)
def test_a_relation_between_sizes_has_words(expression: str, words: str) -> None:
    assert shape_words(expression, lambda each: name_value(each, FORWARD).text) == words


def test_a_relation_says_what_it_is_about_and_where_it_comes_from() -> None:
    text = "L['x'].size()[0] == L['n']  # return x.view(n, -1)  # in/model.py:12 in forward (_meta.py:1 in f)"
    guard = ShapeGuard.of(text)
    assert guard == ShapeGuard(expression="L['x'].size()[0] == L['n']", file="in/model.py", line=12)
    assert values_in(guard.expression) == ["L['x'].size()[0]", "L['n']"]
    assert ShapeGuard.of("A == B  # duck sizing added this equality because …").assumed
    assert is_lower_bound("2 <= L['x'].size()[0]")
    assert not is_lower_bound("2 <= L['x'].size()[0] <= 9") and not is_lower_bound("2 <= L['n'] + L['m']")


class Colour(enum.Enum):
    RED = 1


class Settings:
    def __init__(self) -> None:
        self.scale = 2.5


SCALE = 3


def helper(x: torch.Tensor) -> torch.Tensor:
    return x * SCALE


class Everything(torch.nn.Module):
    """Looks at a value of nearly every kind."""

    mean: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
        self.register_buffer("mean", torch.zeros(4))
        self.step = 7

    def forward(self, x: torch.Tensor, y: torch.Tensor, **more: Any) -> torch.Tensor:
        z = helper(self.layers(x)) + y + self.mean * self.step
        if more["flag"] and more["name"] == "sum" and more["nothing"] is None and more["colour"] is Colour.RED:
            z = z * len(more["items"]) + more["mapping"]["a"] * more["settings"].scale
        if not hasattr(more["settings"], "offset") and 3 in more["numbers"] and "b" not in more["mapping"]:
            z = more["function"](z) + next(more["range"]) + next(more["count"]) + next(more["tuple"])
        if more["proxy"]["a"] and isinstance(more["settings"], Settings):
            z = z + more["dtype"].itemsize
        return z


def keywords() -> dict[str, Any]:
    return {
        "flag": True, "name": "sum", "nothing": None, "colour": Colour.RED, "items": [1, 2], "mapping": {"a": 5},
        "settings": Settings(), "numbers": {3}, "function": torch.sin, "range": iter(range(2, 5)),
        "count": itertools.count(3), "tuple": iter((1, 2)), "proxy": types.MappingProxyType({"a": 1}),
        "dtype": torch.float32,
    }  # fmt: skip


@pytest.fixture(scope="module")
def told() -> list[Guard]:
    """The guards of one graph that looks at nearly everything."""
    torch._dynamo.reset()
    x = torch.randn(4, 4)
    with GuardInspector() as inspector:
        torch.compile(Everything(), backend="eager")(x, x, **keywords())
    return list(inspector.report.graphs[0].guards)


WORDS = [
    ("TENSOR_MATCH", "x is a float32 tensor of shape [4, 4] on cpu that does not require grad"),
    ("TENSOR_MATCH", "self.layers[0].weight is a float32 parameter of shape [4, 4] on cpu that requires grad"),
    ("TENSOR_MATCH", "self.mean is a float32 tensor of shape [4] on cpu that does not require grad"),
    ("DUPLICATE_INPUT", "x and y are the same object"),
    ("CONSTANT_MATCH", "flag is True"),
    ("CONSTANT_MATCH", "name is 'sum'"),
    ("CONSTANT_MATCH", "nothing is None"),
    ("EQUALS_MATCH", "self.step is 7"),
    ("EQUALS_MATCH", "SCALE is 3"),
    ("SEQUENCE_LENGTH", "items has 2 items"),
    ("DICT_KEYS_MATCH", "self.layers._modules has the keys '0', '1'"),
    ("HASATTR", "settings has no attribute offset"),
    ("TYPE_MATCH", "settings is of type Settings"),
    ("BUILTIN_MATCH", "len is the same function len"),
    ("MODULE_MATCH", "torch.nn.modules.linear.F is the same module torch.nn.functional"),
    ("CLOSURE_MATCH", "helper has the code of function helper (test_wording.py:{helper})"),
    ("EMPTY_NN_MODULE_HOOKS_DICT", "self.layers._forward_hooks has no items"),
    ("NOT_PRESENT_IN_GENERIC_DICT", "self.layers has no attribute forward of its own"),
]


@pytest.mark.parametrize(("kind", "words"), WORDS, ids=[words for _, words in WORDS])
def test_a_guard_is_told_in_plain_words(told: list[Guard], kind: str, words: str) -> None:
    words = words.format(helper=helper.__code__.co_firstlineno)
    found = [guard.words for guard in told if guard.kind == kind]
    assert words in found


def test_no_guard_of_a_known_kind_is_told_by_its_code_alone(told: list[Guard]) -> None:
    assert len({guard.kind for guard in told}) > 20
    assert [guard for guard in told if guard.code and guard.words == guard.code] == []
    assert [guard.words for guard in told if " at 0x" in guard.words] == []


def test_a_guard_names_the_line_that_made_torch_look(told: list[Guard]) -> None:
    lines, first = inspect.getsourcelines(Everything.forward)
    flagged = first + next(number for number, line in enumerate(lines) if "flag" in line)
    guard = next(guard for guard in told if guard.words == "flag is True")
    assert guard.user_line == f"{__file__}:{flagged}"
    assert guard.role == "argument of forward"


def test_what_is_the_same_in_every_graph_is_summed_up(told: list[Guard]) -> None:
    groups = {guard.group for guard in told}
    assert {"torch's global state", "functions, classes and modules by name"} < groups
    assert {"parameters and buffers of self.layers", "the inside of self.layers"} < groups
    alone = {guard.words for guard in told if not guard.group}
    assert "flag is True" in alone and "self.step is 7" in alone
    assert not any("hooks" in words for words in alone)


def odd_guard(kind: str, code: str, fact: None = None) -> Guard:
    seen = SeenGuard(kind=kind, source=None, expression="L['x']", fact=fact, code=code)
    graph = SeenGraph(
        function=FORWARD, compile_id="0/0", guards=(seen,), shapes=(), freevars={}, files=frozenset()
    )  # fmt: skip
    return describe(Observation(graphs=[graph]), []).graphs[0].guards[0]


@pytest.mark.parametrize(
    ("kind", "code", "words"),
    [
        ("KIND_OF_ANOTHER_RELEASE", "___check(L['x'])", "___check(L['x'])"),
        ("KIND_OF_ANOTHER_RELEASE", "", "KIND_OF_ANOTHER_RELEASE on x"),
        ("EQUALS_MATCH", "L['x'] == 3", "L['x'] == 3"),
    ],
    ids=["unknown kind", "unknown kind without code", "a value that can't be read"],
)
def test_what_has_no_words_is_told_by_its_code(kind: str, code: str, words: str) -> None:
    assert odd_guard(kind, code).words == words


def test_a_value_that_raises_when_looked_at_does_not_stop_the_compiler() -> None:
    class Odd:
        def __len__(self) -> int:
            raise RuntimeError("not now")

        def __repr__(self) -> str:
            raise RuntimeError("not now either")

    def program(x: torch.Tensor, odd: Odd) -> torch.Tensor:
        return x + 1 if isinstance(odd, Odd) else x

    with GuardInspector() as inspector:
        torch.compile(program, backend="eager")(torch.ones(2), Odd())
    assert [graph.name for graph in inspector.report.graphs] == ["program"]


def dynamic(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    if x.shape[0] % 2 == 0:
        return (x + y).view(-1)
    return x


@pytest.mark.parametrize(
    "words",
    [
        "x is a float32 tensor of shape [s77, 3] on cpu that does not require grad",
        "dimension 0 of x (s77) is divisible by 2",
        "dimension 0 of y (s77) is equal to dimension 0 of x (s77)",
    ],
)
def test_a_dynamic_dimension_is_told_by_its_symbol_and_in_relation_to_others(words: str) -> None:
    compiled: Callable[..., Any] = torch.compile(dynamic, backend="eager")
    with GuardInspector() as inspector:
        for size in (4, 6):
            compiled(torch.ones(size, 3), torch.ones(size, 3))
    guards = inspector.report.graphs[-1].guards
    symbol = next(each.words for each in guards if each.source == "x" and each.kind == "TENSOR_MATCH").partition("[")[2]
    assert words.replace("s77", symbol.partition(",")[0]) in [guard.words for guard in guards]
    modulo = next(guard for guard in guards if "divisible" in guard.words)
    assert modulo.user_line == f"{__file__}:{dynamic.__code__.co_firstlineno + 1}"
