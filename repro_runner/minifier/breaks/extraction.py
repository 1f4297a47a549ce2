"""From a call of a function to a program that makes the same call: what it needs is copied, or made again."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import logging
import sys
import textwrap
import types
from collections.abc import Iterable, Mapping
from importlib.util import decode_source
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import torch

from registry.dependencies import Statements, bound_names
from repro_runner.minifier.breaks.calls import FunctionCall
from repro_runner.minifier.breaks.program import Program, names_in, names_made_in, tidied
from repro_runner.minifier.breaks.values import (
    LIBRARIES,
    Unextractable,
    container_text,
    is_of_torch_nn,
    layer_text,
    library_path,
    plain_text,
)


def extract(call: FunctionCall, *, as_written: bool) -> Program:
    """The function as `broken`, with everything it needs; Unextractable if that can't be had.

    What it uses of its module is copied as it is written there (`as_written`), or made again from its values.
    """
    extraction = _Extraction(as_written=as_written)
    function = function_tree(call.code)
    arguments = dict(call.arguments)
    first = next(iter(arguments), "")
    if first == "self":
        own = arguments.pop("self")
        function = extraction.without_self(function, own, taken=names_in(function) | arguments.keys())
    extraction.bind_names(function, call.names, but=arguments.keys())
    inputs = {
        name: ast.parse(extraction.expression(value, name), mode="eval").body for name, value in arguments.items()
    }
    function.name = "broken"
    function.args = ast.arguments(
        posonlyargs=[], args=[ast.arg(name) for name in arguments], kwonlyargs=[], kw_defaults=[], defaults=[]
    )
    tree = ast.parse("\n".join(extraction.definitions))
    tree.body.append(function)
    return tidied(Program(tree=tree, inputs=inputs))


def function_tree(code: CodeType) -> ast.FunctionDef:
    """The function that this code was compiled from, without decorators (but torch's), types and docstring."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(code)))
    except (OSError, SyntaxError, TypeError) as error:
        raise Unextractable(f"the source of {code.co_name} ({error})") from error
    function = next((node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)), None)
    if function is None or function.name != code.co_name:
        raise Unextractable(f"{code.co_name}, which is not written as a function")
    function.decorator_list = [each for each in function.decorator_list if _is_torchs(each)]
    _Plain().visit(function)
    return function


def _is_torchs(decorator: ast.expr) -> bool:
    """`@torch.no_grad()`, but not `@torch.compile`: the extracted function is compiled by its caller."""
    text = ast.unparse(decorator)
    return text.startswith("torch.") and text.partition("(")[0] != "torch.compile"


class _Extraction:
    """What a program needs above its function, in the order in which it is needed."""

    def __init__(self, *, as_written: bool) -> None:
        self.definitions: list[str] = []
        self._as_written = as_written
        self._bound: dict[str, Any] = {}

    def bind_names(self, function: ast.AST, names: Mapping[str, Any], but: Iterable[str] = ()) -> None:
        """Give every name that the function takes from outside the meaning it has there."""
        for name in sorted(names_in(function) - names_made_in(function) - {*but, *self._bound}):
            if name in names:
                if not (self._as_written and self._copy_statements(name, names)):
                    self._bind(name, names[name])
            elif not hasattr(builtins, name):
                raise Unextractable(f"the name {name}")

    def _bind(self, name: str, value: Any) -> None:
        if name in self._bound:
            if self._bound[name] is not value:
                raise Unextractable(f"two meanings of the name {name}")
            return
        self._bound[name] = value
        if isinstance(value, ModuleType):
            root, _, rest = value.__name__.partition(".")
            if root not in LIBRARIES:
                raise Unextractable(f"the module {value.__name__}")
            self.definitions.append(f"import {value.__name__}" + (f" as {name}" if rest or name != root else ""))
        elif path := library_path(value):
            home, _, own = path.rpartition(".")
            self.definitions.append(f"from {home} import {own}" + (f" as {name}" if own != name else ""))
        elif callable(value) and isinstance(function := inspect.unwrap(value), FunctionType):
            self._copy_function(function, name)
        elif isinstance(value, type):
            self._copy_class(value, name)
        else:
            self.definitions.append(f"{name} = {self.expression(value, name)}")

    def _copy_statements(self, name: str, names: Mapping[str, Any]) -> bool:
        """Copy the statements of the module that define this name, and all that they need. False if there are none."""
        needed = _statements(str(names.get("__file__"))).needed_by(name)
        if not any(name in bound_names(each) for each in needed):
            return False
        for statement in needed:
            if isinstance(statement, ast.Import | ast.ImportFrom) and not _roots(statement) <= LIBRARIES:
                raise Unextractable(f"`{ast.unparse(statement)}`")
            for bound in bound_names(statement) & names.keys():
                if self._bound.setdefault(bound, names[bound]) is not names[bound]:
                    raise Unextractable(f"two meanings of the name {bound}")
            if (text := ast.unparse(statement)) not in self.definitions:
                self.definitions.append(text)
        return True

    def _copy_function(self, function: FunctionType, name: str) -> None:
        tree = function_tree(function.__code__)
        tree.name = name
        self.bind_names(tree, {**function.__globals__, **inspect.getclosurevars(function).nonlocals})
        self.definitions.append(ast.unparse(tree))

    def _copy_class(self, kind: type, name: str) -> None:
        try:
            (tree,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
        except (OSError, TypeError, ValueError) as error:
            raise Unextractable(f"the source of {kind.__name__} ({error})") from error
        if not isinstance(tree, ast.ClassDef) or tree.name != name:
            raise Unextractable(f"{kind.__name__}, which is not written as a class of that name")
        self.bind_names(tree, vars(sys.modules[kind.__module__]))
        self.definitions.append(ast.unparse(tree))

    def expression(self, value: Any, name: str) -> str:
        """An expression that makes a similar value. `name` names the value in the Unextractable that it may raise."""
        if (text := plain_text(value)) is not None:
            return text
        if type(value) in (list, set, frozenset):
            return f"{type(value).__name__}([{', '.join(self.expression(each, name) for each in value)}])"
        if type(value) is tuple:
            return f"({', '.join(self.expression(each, name) for each in value)}{',' if len(value) == 1 else ''})"
        if type(value) is dict:
            pairs = (f"{self.expression(key, name)}: {self.expression(each, name)}" for key, each in value.items())
            return f"{{{', '.join(pairs)}}}"
        if isinstance(value, torch.nn.Module):
            return self._module(value, name)
        if isinstance(value, logging.Logger):
            self._bind("logging", logging)
            return f"logging.getLogger({value.name!r})"
        if isinstance(value, FunctionType | type) or (callable(value) and library_path(value)):
            own = str(value.__name__)
            self._bind(own, value)
            return own
        if hasattr(value, "__dict__") and not isinstance(value, MethodType):
            return self._namespace(value)
        raise Unextractable(f"{name}, an object of class {type(value).__name__}")

    def _module(self, module: torch.nn.Module, name: str) -> str:
        if is_of_torch_nn(module):
            return self._container(module) or layer_text(module)
        kind = type(module)
        own = kind.__name__ if kind.__name__ not in self._bound else f"{kind.__name__}_{name}"
        self._define_class(own, module, ["forward"])
        return f"{own}()" + ("" if module.training else ".eval()")

    def _container(self, module: Any) -> str | None:
        """A Sequential, ModuleList or ModuleDict with its layers; None for another object."""
        if not isinstance(module, torch.nn.Sequential | torch.nn.ModuleList | torch.nn.ModuleDict):
            return None
        return container_text(module, {child: self.expression(each, child) for child, each in module.named_children()})

    def _define_class(self, name: str, owner: Any, wanted: list[str]) -> None:
        """A class whose objects have what is wanted of this one: methods as they are, attributes as they are now."""
        self._bound[name] = owner
        methods, attributes = self._methods(owner, wanted)
        try:
            container = self._container(owner)  # a class made from one has its layers by index or key
        except Unextractable:
            container = None  # as for an attribute: perhaps the program works without them
        base, _, layers = (container or "torch.nn.Module()").partition("(")
        head = f"class {name}({base}):" if isinstance(owner, torch.nn.Module) else f"class {name}:"
        lines = [head, "    def __init__(self):", f"        super().__init__({layers}"]
        lines += [f"        self.{each} = {text}" for each, text in attributes.items()]
        for method in methods:
            lines += ["", *textwrap.indent(ast.unparse(method), "    ").splitlines()]
        self.definitions.append("\n".join(lines))

    def _methods(self, owner: Any, wanted: list[str]) -> tuple[list[ast.FunctionDef], dict[str, str]]:
        """These methods and those they call, and the attributes that they read."""
        methods: dict[str, ast.FunctionDef] = {}
        attributes: dict[str, str] = {}
        while wanted:
            method = inspect.getattr_static(type(owner), name := wanted.pop(), None)
            if name in methods or name in attributes:
                continue
            if isinstance(method, FunctionType) and library_path(method) is None:
                methods[name] = function_tree(method.__code__)
                self.bind_names(methods[name], method.__globals__)
                wanted += sorted(_attributes_of(methods[name], methods[name].args.args[0].arg))
            elif name in vars(owner) or hasattr(owner, name):
                attributes |= self._attribute(owner, name)
        return list(methods.values()), attributes

    def _attribute(self, owner: Any, name: str) -> dict[str, str]:
        """{name: expression of its value}; empty if there is none: perhaps the program works without it."""
        value = getattr(owner, name)
        try:
            text = self.expression(value, name)
        except Unextractable:
            return {}
        return {name: f"torch.nn.Parameter({text})" if isinstance(value, torch.nn.Parameter) else text}

    def _namespace(self, value: Any) -> str:
        """An object that has nothing but the plain attributes of this one."""
        self._bind("types", types)
        plain = {key: each for key, each in vars(value).items() if str(key).isidentifier() and not key.startswith("__")}
        fields = {key: text for key, each in plain.items() if (text := plain_text(each)) is not None}
        return f"types.SimpleNamespace({', '.join(f'{key}={text}' for key, text in fields.items())})"

    def without_self(self, function: ast.FunctionDef, own: Any, taken: set[str]) -> ast.FunctionDef:
        """The method as a function: `self.linear` becomes a global `linear`, where that means the same."""
        reads = _attributes_of(function, "self")
        written = _attributes_of(function, "self", ast.Store)
        methods = [each for each in reads if isinstance(inspect.getattr_static(type(own), each, None), FunctionType)]
        attributes = [node.value for node in ast.walk(function) if isinstance(node, ast.Attribute)]
        passed_on = [
            node
            for node in ast.walk(function)
            if isinstance(node, ast.Name) and node.id == "self" and not any(node is each for each in attributes)
        ]
        if passed_on or written or methods:
            return self._with_object(function, own)
        names = {}
        for attribute in sorted(reads):
            names[attribute] = (
                attribute if attribute not in taken and not hasattr(builtins, attribute) else f"own_{attribute}"
            )
            self._bind(names[attribute], getattr(own, attribute))
        _Flattened(names).visit(function)
        return function

    def _with_object(self, function: ast.FunctionDef, own: Any) -> ast.FunctionDef:
        """`self` stays an object, under another name."""
        kind = type(own).__name__
        self._define_class(kind, own, sorted(_attributes_of(function, "self")))
        self.definitions.append(f"own = {kind}()")
        self._bound["own"] = own
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and node.id == "self":
                node.id = "own"
        return function


@functools.cache
def _statements(file: str) -> Statements:
    """The statements of a module; none if its source is not there."""
    try:
        source = decode_source(Path(file).read_bytes())
        return Statements(ast.parse(source), source)
    except (OSError, SyntaxError, ValueError):
        return Statements(ast.Module([], []), "")


def _roots(statement: ast.Import | ast.ImportFrom) -> set[str]:
    if isinstance(statement, ast.ImportFrom):
        return {"." * statement.level + str(statement.module).partition(".")[0]}
    return {alias.name.partition(".")[0] for alias in statement.names}


class _Plain(ast.NodeTransformer):
    """Removes types and docstrings."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        return node if node.value is None else ast.copy_location(ast.Assign([node.target], node.value), node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.returns = None
        if ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        self.generic_visit(node)
        return node


class _Flattened(ast.NodeTransformer):
    """`self.linear` -> `linear`."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            return ast.Name(self._names[node.attr], node.ctx)
        self.generic_visit(node)
        return node


def _attributes_of(function: ast.FunctionDef, name: str, context: type[ast.expr_context] = ast.Load) -> set[str]:
    """The attributes of this object that the function reads, or writes; `self.calls += 1` does both."""
    nodes = list(ast.walk(function))
    counted = {id(node.target) for node in nodes if isinstance(node, ast.AugAssign)}
    return {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == name
        and (isinstance(node.ctx, context) or id(node) in counted)
    }
