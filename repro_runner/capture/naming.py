"""From the expression by which torch reaches a value, `L['self']._modules['l']._parameters['weight']`, to the name that
the user has for it, `self.l.weight`, and what that is: a parameter."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import CodeType
from typing import Any

from repro_runner.capture.breaks import RESUMED
from repro_runner.torch_seams import external_utils, symbolic_convert

_WRAPPER: str = external_utils.__file__
_IMPORTED = "__import_"
_BUILTINS = "__builtins_dict__"
_STACKED = re.compile(r"___stack(\d+)")
_DICTS = {"_modules": "attribute", "_parameters": "parameter", "_buffers": "buffer", "__dict__": "attribute"}
"""Dicts in which a module keeps what the user calls its attributes."""
_PROPERTIES = {"size": "dimension", "stride": "stride"}
_UNCHANGED = ("___from_numpy", "___as_tensor", "dict", "int")
_GETTERS = {"object.__getattribute__", "getattr"}
_ITEM_GETTERS = {"dict.__getitem__", "list.__getitem__", "___tuple_iterator_getitem", "tuple_iterator_getitem"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledFunction:
    """A function of the user, or the function that Dynamo made of the rest of it after a break."""

    name: str
    source: str
    """`file:line` of its `def`; after a break, of the line at which it continues."""
    resumed: bool = False
    arguments: tuple[str, ...] = ()
    closed_over: tuple[str, ...] = ()
    args: str = ""
    """The name of its `*args`. `positional` has their names in the function that it wraps."""
    kwargs: str = ""
    positional: tuple[str, ...] = ()
    wrapped: str = ""
    """The user's name for `fn` if this is torch's own wrapper; else empty."""

    @classmethod
    def of(cls, code: CodeType, frame_locals: Mapping[str, Any] | None = None) -> CompiledFunction:
        resumed = RESUMED.fullmatch(code.co_name)
        args, kwargs = (bool(code.co_flags & flag) for flag in (inspect.CO_VARARGS, inspect.CO_VARKEYWORDS))
        named = code.co_argcount + code.co_kwonlyargcount
        itself = cls(
            name=resumed[1] if resumed else code.co_name,
            source=f"{code.co_filename}:{resumed[2] if resumed else code.co_firstlineno}",
            resumed=bool(resumed),
            arguments=code.co_varnames[: named + args + kwargs],
            closed_over=code.co_freevars,
            args=code.co_varnames[named] if args else "",
            kwargs=code.co_varnames[named + args] if kwargs else "",
        )
        values = frame_locals or {}
        if code.co_filename == _WRAPPER and "fn" in values:
            return itself._wrapping(values["fn"])
        # A decorated forward takes `*args`; their names are known from the function that it decorates.
        forward = getattr(type(values.get("self")), "forward", None)
        decorated = args and getattr(forward, "__code__", None) is code
        return replace(itself, positional=_parameters(forward)[code.co_argcount :]) if decorated else itself

    def _wrapping(self, function: Any) -> CompiledFunction:
        """Torch compiles its own modules, and functions that are not the user's, through a wrapper."""
        forward = getattr(function, "forward", function)
        code = getattr(inspect.unwrap(forward), "__code__", None)
        name = getattr(forward, "__name__", type(function).__name__)
        source = f"{code.co_filename}:{code.co_firstlineno}" if code else self.source
        wrapped = name if forward is function else "self"
        return replace(self, name=name, source=source, positional=_parameters(forward), wrapped=wrapped)

    def __str__(self) -> str:
        return f"{self.name}, resumed after a break" if self.resumed else self.name


def compiled_function() -> CompiledFunction:
    """The function that Dynamo compiles in this thread right now; one without a name if there is none."""
    translator = getattr(getattr(symbolic_convert, "tls", None), "current_tx", None)
    if translator is None:
        return CompiledFunction(name="", source="")
    root = translator.output.root_tx
    return CompiledFunction.of(root.f_code, root.f_locals)


def _parameters(function: Any) -> tuple[str, ...]:
    try:
        return tuple(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A value in the user's terms."""

    text: str
    role: str
    """argument, local, closure, attribute, module attribute, parameter, buffer, global, import, builtin; or empty."""
    owner: str = ""
    """What it is an attribute, parameter or buffer of."""

    def described(self, function: CompiledFunction) -> str:
        """`argument of forward`; empty where there is nothing to add to the name."""
        if self.owner and self.role in ("attribute", "module attribute", "parameter", "buffer"):
            return f"{self.role.removeprefix('module ')} of {self.owner}"
        return {
            "argument": f"argument of {function.name}",
            "local": f"local of {function.name}, kept across the break",
            "closure": f"closed over by {self.owner or function.name}",
            "global": "global",
        }.get(self.role, "")


def name_value(expression: str, function: CompiledFunction, freevars: Mapping[str, str] | None = None) -> Named:
    """The user's name for what an expression of torch reaches. `freevars`: closure's cell -> variable."""
    try:
        tree = ast.parse(expression, mode="eval").body
    except SyntaxError:
        return Named(text=expression, role="")
    return _Namer(function, freevars or {}).named(tree)


def expression_of(source: Any) -> str:
    """The expression of a source of Dynamo's. In older releases of torch its name is a method."""
    return str(source.name() if callable(source.name) else source.name)


def closure_names(sources: Iterable[Any]) -> dict[str, str]:
    """{expression of a closure's cell: variable}, for the cells that these sources of Dynamo's lead through."""
    found = {}
    for source in sources:
        while source is not None:
            if variable := getattr(source, "freevar_name", ""):
                found[expression_of(source)] = str(variable)
            source = getattr(source, "base", None)
    return found


@dataclass(slots=True)
class _Namer:
    function: CompiledFunction
    freevars: Mapping[str, str] = field(default_factory=dict)

    def named(self, node: ast.expr) -> Named:
        if self.freevars and (variable := self.freevars.get(ast.unparse(node))):
            return Named(text=variable, role="closure", owner=self._owner_of_cell(node))
        if isinstance(node, ast.Subscript):
            return self._item(node)
        if isinstance(node, ast.Attribute):
            return self._attribute(self.named(node.value), node.attr)
        if isinstance(node, ast.Call):
            return self._call(node)
        return Named(text=ast.unparse(node), role="")

    def _owner_of_cell(self, node: ast.expr) -> str:
        """`fn` of `L['fn'].__closure__[0].cell_contents`."""
        while isinstance(node, (ast.Attribute, ast.Subscript)):
            if isinstance(node, ast.Attribute) and node.attr == "__closure__":
                return self.named(node.value).text
            node = node.value
        return ""

    def _item(self, node: ast.Subscript) -> Named:
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        base = node.value
        if isinstance(base, ast.Name) and base.id in ("L", "G") and isinstance(key, str):
            return self._local(key) if base.id == "L" else _global(key)
        if _is_builtins(base):
            return Named(text=str(key), role="builtin")
        if isinstance(base, ast.Attribute) and base.attr in _DICTS and isinstance(key, str):
            owner = self.named(base.value)
            return Named(text=_member(owner.text, key), role=_DICTS[base.attr], owner=owner.text)
        if isinstance(base, ast.Attribute) and base.attr in ("__defaults__", "__kwdefaults__"):
            return Named(text=f"default {key!r} of {self.named(base.value).text}", role="")
        if (call := _called(base)) and call[0] == "list" and (inner := _called(call[1][0])):
            container = self.named(inner[1][0]) if inner[1] else Named(text="", role="")
            return Named(text=f"key {key!r} of {container.text}", role="")
        if isinstance(base, ast.Call) and isinstance(base.func, ast.Attribute) and base.func.attr in _PROPERTIES:
            tensor = self.named(base.func.value)
            return Named(text=f"{_PROPERTIES[base.func.attr]} {key!r} of {tensor.text}", role=tensor.role)
        owner = self.named(base)
        function = self.function
        if owner.text == function.kwargs and isinstance(key, str):
            return Named(text=key, role=owner.role)
        if owner.text == function.args and isinstance(key, int) and key < len(function.positional):
            return Named(text=function.positional[key], role=owner.role)
        if key is None and isinstance(node.slice, ast.Subscript):
            return self._by_key(owner, node.slice)
        return Named(text=f"{owner.text}[{ast.unparse(node.slice)}]", role=owner.role, owner=owner.owner)

    def _by_key(self, owner: Named, key: ast.expr) -> Named:
        """An item whose key is an object of the dict, not a constant: `key 0 of d`."""
        return Named(text=f"{owner.text}[{self.named(key).text}]", role=owner.role, owner=owner.owner)

    def _local(self, key: str) -> Named:
        if stacked := _STACKED.fullmatch(key):
            return Named(text=f"value {stacked[1]} of the expression that broke", role="local")
        if key == "fn" and self.function.wrapped:
            return Named(text=self.function.wrapped, role="argument")
        if key in self.function.closed_over:
            return Named(text=key, role="closure")
        if self.function.resumed:
            return Named(text=key, role="local")
        return Named(text=key, role="argument" if key in self.function.arguments else "local")

    def _attribute(self, owner: Named, attribute: str) -> Named:
        if attribute == "__code__":
            return Named(text=f"the code of {owner.text}", role=owner.role, owner=owner.owner)
        if owner.role in ("import", "global") or not owner.role:
            return Named(text=f"{owner.text}.{attribute}", role=owner.role)
        return Named(text=f"{owner.text}.{attribute}", role="attribute", owner=owner.text)

    def _call(self, node: ast.Call) -> Named:
        function = ast.unparse(node.func)
        if not node.args:
            if isinstance(node.func, ast.Attribute) and node.func.attr == "storage_offset":
                return Named(text=f"storage offset of {self.named(node.func.value).text}", role="")
            return self.named(node.func)  # a weak reference, called for what it refers to
        first = self.named(node.args[0]) if function != "__import__" else Named(text="", role="")
        key = node.args[1].value if len(node.args) > 1 and isinstance(node.args[1], ast.Constant) else None
        if function == "__import__" and isinstance(node.args[0], ast.Constant):
            return Named(text=str(node.args[0].value), role="import")
        if function == "type":
            return Named(text=f"the type of {first.text}", role=first.role, owner=first.owner)
        if function in _UNCHANGED:
            return first
        if function in _GETTERS and isinstance(key, str):
            return self._attribute(first, key)
        if function in _ITEM_GETTERS and isinstance(node.args[1], ast.Subscript):
            return self._by_key(first, node.args[1])
        if function in _ITEM_GETTERS:
            return Named(text=f"{first.text}[{ast.unparse(node.args[1])}]", role=first.role, owner=first.owner)
        return Named(text=f"{function}({first.text})", role=first.role, owner=first.owner)


def _global(key: str) -> Named:
    if key.startswith(_IMPORTED):
        return Named(text=key.removeprefix(_IMPORTED).replace("_dot_", "."), role="import")
    return Named(text=key, role="global")


def _is_builtins(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.Constant)
        and str(node.slice.value).startswith(_BUILTINS)
    )


def _member(owner: str, key: str) -> str:
    """`self.l`, or `self.layers[0]` in a Sequential."""
    return f"{owner}.{key}" if key.isidentifier() else f"{owner}[{key}]"


def _called(node: ast.expr) -> tuple[str, list[ast.expr]] | None:
    return (ast.unparse(node.func), node.args) if isinstance(node, ast.Call) else None
