"""Check that a patch is plain torch code and does not switch compilation off. It is read, not run.

A patch may be run only if everything that it adds is in an allowed set. Code that the user's file has already, in any
place, is allowed. This stops mistakes and simple attacks. It is not a sandbox.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections import Counter
from collections.abc import Container, Iterator

# fmt: off
_MODULES = frozenset({
    "torch", "math", "functools", "itertools", "operator", "contextlib", "typing", "numpy", "collections",
    "dataclasses", "enum",
})
_BUILTINS = frozenset({
    "abs", "all", "any", "bool", "complex", "dict", "divmod", "callable", "enumerate", "filter", "float", "frozenset",
    "hasattr", "hash", "id", "int", "isinstance", "issubclass", "iter", "len", "list", "map", "max", "min", "next",
    "object", "pow", "print", "property", "range", "repr", "reversed", "round", "set", "slice", "sorted",
    "staticmethod", "classmethod", "str", "sum", "super", "tuple", "zip", "NotImplemented", "ValueError", "TypeError",
    "RuntimeError", "IndexError", "KeyError", "Exception", "BaseException", "AssertionError", "NotImplementedError",
    "ArithmeticError", "ZeroDivisionError", "__name__",
})
_ATTRIBUTES = frozenset({
    "load", "loads", "save", "savez", "savez_compressed", "savetxt", "loadtxt", "genfromtxt", "dump", "dumps", "tofile",
    "fromfile", "from_file", "fromregex", "memmap", "open_memmap", "DataSource", "hub", "package", "serialization",
    "classes", "load_library", "load_inline", "cpp_extension", "multiprocessing", "distributed", "jit", "fx", "utils",
    "ctypeslib", "f2py", "distutils", "testing", "lib", "system", "popen", "share_memory_", "profiler", "monitor",
    "futures", "backends", "overrides", "ops", "export", "onnx", "attrgetter", "methodcaller", "get_type_hints",
    "ForwardRef", "import_ir_module", "import_ir_module_from_buffer", "PyTorchFileReader", "PyTorchFileWriter",
    "Library",
}) | sys.stdlib_module_names - _MODULES - {"select", "trace", "copy", "random", "array", "numbers"}
"""Attributes of torch and numpy that read, write, load code or start processes, or that lead there, as `torch.os`."""
# fmt: on
_DODGES = {
    "disable": "turns compilation off",
    "suppress_errors": "suppresses errors of compilation",
    "set_stance": "turns compilation off",
    "skip_frame": "turns compilation off",
    "allow_in_graph": "hides code from Dynamo",
    "disallow_in_graph": "takes code out of the graph",
    "reset": "drops what was compiled",
    "manual_seed": "changes random numbers",
    "seed": "changes random numbers",
    **dict.fromkeys(
        ("is_fx_tracing", "is_compiling", "is_dynamo_compiling", "is_exporting"),
        "does something else while it is compiled",
    ),
    "environ": "changes the environment",
}
_PRIVATE = frozenset({"_dynamo", "_check", "_check_is_size", "_higher_order_ops", "__init__", "__name__"})
_OF_PRIVATE = {
    "_dynamo": {
        "config",
        "mark_dynamic",
        "maybe_mark_dynamic",
        "mark_static",
        "nonstrict_trace",
        "dont_skip_tracing",
        *_DODGES,
    },
    "_higher_order_ops": {"print", "while_loop"},
}
"""The names of private modules that a patch may use. _DODGES are in here because find_dodges reports them."""
_CONFIG = (
    "capture_", "allow_", "assume_static_by_default", "automatic_dynamic_shapes", "specialize_", "force_", "trace_",
    "enable_trace_", "reorderable_logging_functions",
)  # fmt: skip
"""The starts of allowed flags of torch._dynamo.config: flags that change what can be traced."""
_MOST_NUMBERS = 12
_OF_A_METHOD = {"self", "cls"}


def is_allowed_setting(name: str) -> bool:
    """Whether a patch may change this: a flag of Dynamo for what can be traced, by its whole name."""
    return name.startswith(tuple(f"torch._dynamo.config.{start}" for start in _CONFIG))


def find_refusals(before: str, after: str) -> list[str]:
    """The reasons why the patched text must not be run; empty if it may be. Raises SyntaxError."""
    old, new = ast.parse(before), ast.parse(after)
    return list(dict.fromkeys(_refusals(old, new)))


def find_dodges(before: str, after: str) -> list[str]:
    """How the patch would lower the number of breaks without fixing them; empty if it does not. Raises SyntaxError."""
    old, new = ast.parse(before), ast.parse(after)
    found = [
        f"it {_DODGES[name]} ({name})" for name in sorted(_added(find_words(old), find_words(new))) if name in _DODGES
    ]
    compiled, now = Counter(_compile_calls(old)), Counter(_compile_calls(new))
    if compiled - now or now.keys() - compiled.keys():
        found.append("it changes how torch.compile is called")
    if sum(1 for _ in _broad_handlers(new)) > sum(1 for _ in _broad_handlers(old)):
        found.append("it catches every exception")
    if sum(_added(_numbers(old), _numbers(new)).values()) > _MOST_NUMBERS:
        found.append("it writes many numbers into the code")
    if _calls_of_forward(new) > _calls_of_forward(old):
        found.append("it calls the forward of a module past its hooks")
    read, taken = set(_parameters(old, read=True)), set(_parameters(old)) & set(_parameters(new))
    return found + [f"it no longer uses {one}" for one in sorted(read & taken - set(_parameters(new, read=True)))]


def _refusals(old: ast.Module, new: ast.Module) -> Iterator[str]:
    for module in _added(_imports(old), _imports(new)):
        parts = module.split(".")
        private = [part for part in parts if part.startswith("_")] and module != "torch._dynamo"
        if parts[0] not in _MODULES or private or "*" in parts or _ATTRIBUTES.intersection(parts):
            yield f"it imports {module}"
    # A name does not become harmless because the patch binds it: `open = open`, `def f(os): …`.
    bound_by_patch = _own_names(new) - set(dir(builtins)) - _imported_from_elsewhere(new)
    ours = (_own_names(old) - _imported_from_elsewhere(old)) | bound_by_patch
    for use in _added(_foreign_uses(old, ours), _foreign_uses(new, ours)):
        yield f"it uses {use}"
    own = {*_attributes(old), *_attributes_set(new)}
    for name in _added(_attributes(old), _attributes(new)):
        if name in _ATTRIBUTES:
            yield f"it uses .{name}"
        elif name.startswith("_") and name not in _PRIVATE and not (name in own and not name.startswith("__")):
            yield f"it uses .{name}, which is private"
    for use in _added(_private_uses(old), _private_uses(new)):
        yield f"it uses {use}, which is private"
    for name in _added(find_overwritten(old, old), find_overwritten(new, old)):
        yield f"it changes what {name} means"
    for flag in _added(_config_flags(old), _config_flags(new)):
        if not flag.startswith(_CONFIG) and flag not in _DODGES:
            yield f"it sets torch._dynamo.config.{flag}"


def _private_uses(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            for module, allowed in _OF_PRIVATE.items():
                if ends_with(node.value, module) and node.attr not in allowed:
                    yield f"{module}.{node.attr}"


def _added(old: Iterator[str], new: Iterator[str]) -> Counter[str]:
    return Counter(new) - Counter(old)


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names)


def _own_names(tree: ast.Module) -> frozenset[str]:
    """The names that the file defines (functions, classes, parameters, variables) or imports from allowed modules."""
    bound: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
        elif isinstance(node, ast.Import):
            bound |= {bound_by(alias) for alias in node.names if alias.name.partition(".")[0] in _MODULES}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in _MODULES:
            bound |= {bound_by(alias) for alias in node.names}
    return frozenset(bound)


def _imported_from_elsewhere(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {bound_by(alias) for alias in node.names if alias.name.partition(".")[0] not in _MODULES}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] not in _MODULES:
            found |= {bound_by(alias) for alias in node.names}
    return found


def _foreign_uses(node: ast.AST, ours: Container[str]) -> Iterator[str]:
    """Yield the text of each use of a name that is not in `ours`; for a call with its arguments: `os.remove(path)`."""
    if isinstance(node, ast.Call) and _is_foreign(node.func, ours):
        yield ast.unparse(node)
        inside: Iterator[ast.AST] = iter((*node.args, *node.keywords))
    elif isinstance(node, ast.Name | ast.Attribute) and _is_foreign(node, ours):
        yield ast.unparse(node)
        return
    else:
        inside = ast.iter_child_nodes(node)
    for each in inside:
        yield from _foreign_uses(each, ours)


def _is_foreign(node: ast.AST, ours: Container[str]) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id not in ours and node.id not in _BUILTINS


def _names(tree: ast.AST) -> Iterator[str]:
    return (node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))


def _attributes(tree: ast.Module) -> Iterator[str]:
    return (node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute))


def _attributes_set(tree: ast.Module) -> Iterator[str]:
    """Yield the attributes that are set on `self`, as in `self._kept = …`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ends_with(node.value, "self"):
            yield node.attr


def find_words(tree: ast.Module) -> Iterator[str]:
    """Yield all names, attributes and keywords, and the last word of texts: `config.patch("suppress_errors", True)`."""
    yield from _names(tree)
    yield from _attributes(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg:
            yield node.arg
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value.rpartition(".")[2]
        elif isinstance(node, ast.alias):
            yield node.name.rpartition(".")[2]


def _config_flags(tree: ast.Module) -> Iterator[str]:
    """Yield the flags in `torch._dynamo.config.FLAG` and in `config.patch(FLAG=…)`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and ends_with(node.value, "config") and node.attr != "patch":
            yield node.attr
        elif isinstance(node, ast.Call) and ends_with(node.func, "patch"):
            yield from (keyword.arg or "**" for keyword in node.keywords)
            yield from ("a flag by name" for _ in node.args)


def _compile_calls(tree: ast.Module) -> Iterator[str]:
    """Yield the keywords of each call of torch.compile. A decorator without arguments is a call, too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ends_with(node.func, "compile"):
            yield ", ".join(sorted(ast.unparse(keyword) for keyword in node.keywords))
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield from ("" for each in node.decorator_list if ends_with(each, "compile"))


def _calls_of_forward(tree: ast.Module) -> int:
    called = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    named = (each.value for each in called if isinstance(each, ast.Attribute) and each.attr == "forward")
    return sum(not ast.unparse(owner).startswith("super(") for owner in named)


def _broad_handlers(tree: ast.Module) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler):
            caught = ast.unparse(node.type) if node.type else "BaseException"
            if "Exception" in caught:
                yield node
        elif isinstance(node, ast.Attribute | ast.Name) and ends_with(node, "suppress"):
            yield node


def _parameters(tree: ast.AST, within: str = "", *, read: bool = False) -> Iterator[str]:
    """Yield `the parameter x of Net.forward` for each parameter; with `read`, for those that the function reads."""
    for node in ast.iter_child_nodes(tree):
        name = f"{within}.{node.name}".lstrip(".") if isinstance(node, ast.FunctionDef | ast.ClassDef) else within
        if isinstance(node, ast.FunctionDef):
            used = {*_names(node)}
            taken = {
                each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
            } - _OF_A_METHOD
            yield from (f"the parameter {each} of {name}" for each in taken if not read or each in used)
        yield from _parameters(node, name, read=read)


def _numbers(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float | complex):
            yield repr(node.value)


def bound_by(alias: ast.alias) -> str:
    """The name that an import defines."""
    return alias.asname or alias.name.partition(".")[0]


def ends_with(node: ast.expr, name: str) -> bool:
    """Whether this is the last name of an expression: `torch._dynamo.config` ends with `config`."""
    return (isinstance(node, ast.Attribute) and node.attr == name) or (isinstance(node, ast.Name) and node.id == name)


def find_overwritten(tree: ast.Module, original: ast.Module) -> Iterator[str]:
    """Yield names that the program replaces: attributes of anything but `self`, names that `original` imports, and
    built-in names at the top level. Gradients may be set. Flags of torch._dynamo.config are checked elsewhere."""
    imported = dict(_imported(original))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            text = ast.unparse(node)
            flag = text.startswith("torch._dynamo.config.")
            if not (ends_with(node.value, "self") or flag or node.attr == "grad"):
                yield text
        elif isinstance(node, ast.Global | ast.Nonlocal):
            yield from node.names
        else:
            yield from (imported.keys() & _binds(node)) | ({"self"} & _assigns(node))
    yield from (name for name, what in _imported(tree) if imported.get(name, what) != what)
    at_top = {name for statement in tree.body for node in _outside_functions(statement) for name in _binds(node)}
    yield from sorted(at_top & set(dir(builtins)))


def _imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield (the name that is defined, what it stands for) for each import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            start = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            for alias in node.names:
                whole = f"{start}{alias.name}"
                yield bound_by(alias), whole if alias.asname or start else alias.name.partition(".")[0]


def _binds(node: ast.AST) -> set[str]:
    """The names that this node itself defines, except by an import."""
    if isinstance(node, ast.arg):
        return {node.arg}
    if isinstance(node, ast.alias):
        return set()
    name = getattr(node, "name", None)  # of functions, classes, `except … as`, and patterns of `match`
    return {name} if isinstance(name, str) else _assigns(node)


def _assigns(node: ast.AST) -> set[str]:
    return {node.id} if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load) else set()


def _outside_functions(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the node and all nodes inside it, except those inside functions and classes."""
    yield node
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
        for child in ast.iter_child_nodes(node):
            yield from _outside_functions(child)
