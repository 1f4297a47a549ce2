"""Functions of other files that a program gives changed code to when it starts: of installed libraries, and of the
program's own modules. No file is edited.

Only the code is put into the function. So every reference to it gets the change, and the names that it uses are still
looked up in its module.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import inspect
import io
import itertools
import os
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from repro_runner.fix_report.patches.source import Edit, Edited, Source, apply_edits, diff_texts
from repro_runner.output.places import in_package, shown_file
from repro_runner.output.templates import text_templates

_TEMPLATES = Path(__file__).parents[1] / "templates"


class NotReplaceable(Exception):
    """The function can't be given other code. The text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """An installed distribution."""

    name: str
    version: str

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


@cache
def find_library(file: str) -> Library | None:
    """The distribution that a file in site-packages belongs to; None if no distribution lists it."""
    inside = in_package(Path(file))
    folder = file[: len(file) - len(inside)]
    top = inside.partition("/")[0].removesuffix(".py")
    # The one with the package's name is nearly always right. The files of all others are read only if it is not.
    named = importlib.metadata.distributions(name=top, path=[folder])
    every = importlib.metadata.distributions(path=[folder])
    for one in itertools.chain(named, every) if inside else ():
        if any(each.as_posix() == inside for each in one.files or ()):
            return Library(name=one.name, version=one.version)
    return None


def find_own_module(file: str) -> str:
    """The name by which the program, which ran in this process, imported a file of its own; empty if it did not.

    The path is not enough: the program may import `src/net.py` as `net` or as `src.net`. Under the wrong name, Python
    would load a second copy, which the program never calls.
    """
    own = os.path.realpath(file)
    for name, module in list(sys.modules.items()):
        is_own = name.partition(".")[0] not in ("__main__", "__mp_main__", "torch")  # torch may be built in any folder
        if is_own and os.path.realpath(getattr(module, "__file__", None) or "") == own:
            return name
    return ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LibraryFunction:
    """A function or method in a file of a library, or of another module of the program's own."""

    library: Library | None
    """None for a module of the program's own."""
    module: str
    file: str
    source: Source
    node: ast.FunctionDef | ast.AsyncFunctionDef

    @property
    def name(self) -> str:
        """`Net.forward`"""
        return self.source.qualified_name(self.node)

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"

    def has_line(self, file: str, line: int) -> bool:
        same = os.path.realpath(file) == os.path.realpath(self.file)
        return same and self.node.lineno <= line <= (self.node.end_lineno or 0)

    def changed(self, edits: Iterable[Edit]) -> Edited:
        """The file with the edits, and with a signature that needs no name of its module."""
        return apply_edits(self.source, [*edits, *self._signature_edits()])

    def patch_text(self, edits: Iterable[Edit], program: Source) -> str:
        """The lines for a program: the changed function, and the call that puts its code into its module."""
        start, end = self.source.line_start(self.node.lineno), self.source.line_start((self.node.end_lineno or 0) + 1)
        text = self.changed(edits).text
        text = text[start : len(text) - (len(self.source.text) - end)].rstrip("\n")
        # Underscores before a class do not change the private names of its methods.
        outer = self.name.partition(".")[0]
        new = next(each for count in itertools.count(1) if (each := "_" * count + outer) not in program.text)
        heads = [f"{self.source.indentation(each)}class {each.name}:" for each in self._classes]
        lines = re.sub(rf"((?:class|def)\s+){outer}\b", rf"\1{new}", "\n".join([*heads, text]), count=1)
        return "\n".join(
            [
                *("", ""),
                f"# From {self.module}, changed. Only the code of {self.name} is used.",
                lines,
                *("", ""),
                "patch_other_module(",
                f"    {_quoted(self.module)}, {_quoted(self.name)},",
                f"    {self.name.replace(outer, new, 1)},",
                f"    {_quoted(self.sha256)},",
                *([f"    {_quoted(str(self.library))},"] if self.library else ()),
                ")",
            ]
        )

    def line_in_patch(self, edits: Iterable[Edit], line: int) -> int:
        """The number of lines in `patch_text` before a line of the function's file."""
        return 3 + len(self._classes) + self.changed(edits).line(line) - self.node.lineno

    def diff(self, edits: Iterable[Edit]) -> str:
        """The edits as a patch of the library's repository would show them, or one of the current folder."""
        path = in_package(Path(self.file)) or shown_file(self.file).lstrip("/")
        return diff_texts(self.source.text, apply_edits(self.source, edits).text, path)

    @property
    def sha256(self) -> str:
        """The hash of the function's text as `inspect.getsource` gives it."""
        source = "".join(inspect.getblock(_lines(self.source.text)[self.node.lineno - 1 :]))
        return hashlib.sha256(source.encode()).hexdigest()

    @property
    def _classes(self) -> list[ast.ClassDef]:
        """The classes around the function, outermost first."""
        found: list[ast.ClassDef] = []
        node = self.source.parents[self.node]
        while isinstance(node, ast.ClassDef):
            found.insert(0, node)
            node = self.source.parents[node]
        return found

    def _signature_edits(self) -> Iterator[Edit]:
        """Remove annotations, and default values that are not literals. They stay as they are in the module."""
        source, args = self.source, self.node.args
        for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg):
            if arg is not None and arg.annotation is not None:
                yield Edit(start=source.start(arg) + len(arg.arg), end=source.end(arg), text="")
        for default in (*args.defaults, *args.kw_defaults):
            if default is not None and not _is_literal(default):
                yield Edit(start=source.start(default), end=source.end(default), text="...")
        if self.node.returns is not None:
            returns = source.text.rindex("->", 0, source.start(self.node.returns))
            yield Edit(
                start=returns - (source.text[returns - 1] == " "), end=_colon(source, self.node.returns), text=""
            )


def read_library_source(file: str) -> Source:
    """Read another file as Python does, with plain line ends. Raises OSError, SyntaxError or ValueError."""
    with tokenize.open(file) as stream:
        return Source(stream.read())


def library_function(
    file: str, source: Source, function: ast.FunctionDef | ast.AsyncFunctionDef | None
) -> LibraryFunction:
    """The function in its file. Raises NotReplaceable."""
    if function is None:
        raise NotReplaceable("it is not in a function, and only functions are patched in other files")
    owner: ast.AST = function
    while not isinstance(owner := source.parents[owner], ast.Module):
        if not isinstance(owner, ast.ClassDef):
            inside = "another function" if source.function_of(function) else "an `if` or another block"
            raise NotReplaceable(f"`{function.name}` is made inside {inside}, so it can't be patched by name")
    if function.decorator_list:
        decorated = f"`{function.name}` is decorated with `{ast.unparse(function.decorator_list[0]):.60}`"
        raise NotReplaceable(f"{decorated}, and only plain functions are patched in other files")
    if getattr(function, "type_params", ()):
        raise NotReplaceable(f"`{function.name}` has type parameters, so its code can't be replaced alone")
    library, inside = find_library(file), in_package(Path(file))
    if inside and library is None:
        raise NotReplaceable("no installed distribution lists its file, so its version can't be checked")
    module = inside.removesuffix(".py").removesuffix("/__init__").replace("/", ".") or find_own_module(file)
    if not module:
        raise NotReplaceable("its file is not one of the program's own modules, so it can't be patched by name")
    return LibraryFunction(library=library, module=module, file=file, source=source, node=function)


def render_library_patches(changed: Sequence[tuple[LibraryFunction, list[Edit]]], program: Source) -> list[str]:
    """The lines for a program that changes these functions; empty if there are none."""
    helper = text_templates(_TEMPLATES).get_template("patch_library.py.j2").render().rstrip("\n")
    return [helper, *(function.patch_text(edits, program) for function, edits in changed)] if changed else []


def _colon(source: Source, returns: ast.expr) -> int:
    """The offset of the colon that ends a signature."""
    text = source.text[source.end(returns) :]
    return source.end(returns) + re.match(r"[\s)]*(?:\\\n\s*)?", text).end()  # type: ignore[union-attr]


def _lines(text: str) -> list[str]:
    """The lines with their ends, as linecache has them."""
    lines = io.StringIO(text).readlines()
    return [*lines[:-1], lines[-1] if lines[-1].endswith("\n") else f"{lines[-1]}\n"] if lines else []


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError):
        return False
    return True


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
