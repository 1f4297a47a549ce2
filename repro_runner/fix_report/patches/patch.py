"""A mechanical fix: the breaks that it fixes, its edits, and what else it changes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from repro_runner.explain.site import Site
from repro_runner.fix_report.patches.library import LibraryFunction, render_library_patches
from repro_runner.fix_report.patches.source import Edit, Edited, Source, apply_edits


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A break to fix."""

    site: Site
    line: int
    """The line in the program's own file; 0 for a break in another file."""
    settings: tuple[str, ...] = ()
    """The lines of the registry's verified fix that sets a flag, if there is one."""

    @property
    def is_inlined(self) -> bool:
        """Whether the break is in a function that compiled code calls."""
        return len(self.site.stack) > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """A branch on a tensor that becomes `torch.where`. A run must check it first."""

    probe: Callable[[int], Edit]
    """Gives the edit that replaces the branch by code that checks it. The number is the branch's name in that run."""
    partial: str = ""
    """An operation in an arm whose gradient is not finite everywhere, if there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """Edits that are applied together."""

    title: str
    targets: tuple[Target, ...]
    edits: tuple[Edit, ...] = ()
    settings: tuple[str, ...] = ()
    """Lines that must run before anything is compiled. They are inserted after the import of torch."""
    imports: tuple[str, ...] = ()
    """Modules that the settings need besides torch."""
    changes: str = ""
    """What else the patch changes, besides the breaks."""
    reorders: bool = False
    """Whether lines may be printed in another order."""
    silences: bool = False
    """Whether some lines may no longer be printed."""
    branch: Branch | None = None
    function: LibraryFunction | None = None
    """The function of another file that the edits change; None if they change the program's own file."""
    otherwise: Patch | None = None
    """The patch to try if this one is not kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why no patch is tried for a break, although its kind of break has a mechanical fix."""

    target: Target
    reason: str


def apply_patches(source: Source, patches: Iterable[Patch]) -> Edited:
    """The program with all patches. Raises ValueError if two of them edit the same place."""
    patches = list(patches)
    edits = list(dict.fromkeys(edit for patch in patches if patch.function is None for edit in patch.edits))
    settings = list(dict.fromkeys(line for patch in patches for line in patch.settings))
    settings += render_library_patches(list(library_edits(patches).items()), source)
    imports = dict.fromkeys(name for patch in patches for name in patch.imports)
    if settings:
        edits.append(_prologue(source, list(imports), settings))
    return apply_edits(source, edits)


def library_edits(patches: Iterable[Patch]) -> dict[LibraryFunction, list[Edit]]:
    """All edits of each function of another file."""
    found: dict[LibraryFunction, dict[Edit, None]] = {}
    for patch in patches:
        if patch.function is not None:
            found.setdefault(patch.function, {}).update(dict.fromkeys(patch.edits))
    return {function: list(edits) for function, edits in found.items()}


def line_after(source: Source, patches: Iterable[Patch], target: Target) -> int:
    """The line of a break in the patched program; 0 if it is in another file. A patched function of another file is
    in the program."""
    patches = list(patches)
    edited = apply_patches(source, patches)
    if target.line:
        return edited.line(target.line)
    for function, edits in library_edits(patches).items():
        if function.has_line(target.site.file, target.site.line):
            text = source.newline.join(function.patch_text(edits, source).split("\n"))
            before = edited.text[: edited.text.index(text)].count(source.newline)
            return before + function.line_in_patch(edits, target.site.line) + 1
    return 0


def _prologue(source: Source, imports: list[str], settings: list[str]) -> Edit:
    """Insert settings after the imports that include torch. If there are none, after the lines that must come first."""
    after, has_torch = _last_import(source.tree)
    lines = [*([] if has_torch else ["import torch"]), *(f"import {name}" for name in imports), *settings]
    at = source.line_start(_last_line_of(source.tree, after) + 1) if after else source.after_first_lines()
    text = "".join(line + source.newline for line in "\n".join(lines).split("\n"))
    if at and source.text[at - 1] not in "\r\n":
        text = source.newline + text
    return Edit(start=at, end=at, text=text)


def has_torch(source: Source) -> bool:
    """Whether the program imports torch under the name `torch` at its top level."""
    return any(map(_binds_torch, source.tree.body))


def _last_import(tree: ast.Module) -> tuple[ast.stmt | None, bool]:
    """(the statement to insert after, whether torch is imported by then)."""
    start = next((place for place, each in enumerate(tree.body) if _binds_torch(each)), None)
    if start is None:
        first = [each for each in tree.body if _is_docstring(tree, each) or _is_future(each)]
        return (first[-1] if first else None), False
    while start + 1 < len(tree.body) and isinstance(tree.body[start + 1], ast.Import | ast.ImportFrom):
        start += 1
    return tree.body[start], True


def _last_line_of(tree: ast.Module, statement: ast.stmt) -> int:
    """The last line of a statement, or of a longer statement that starts on that line."""
    last = statement.end_lineno or statement.lineno
    for each in tree.body:
        if each.lineno <= last < (each.end_lineno or each.lineno):
            last = each.end_lineno or each.lineno
    return last


def _binds_torch(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Import) and any(
        alias.name.partition(".")[0] == "torch" and alias.asname in (None, "torch") for alias in statement.names
    )


def _is_docstring(tree: ast.Module, statement: ast.stmt) -> bool:
    return statement is tree.body[0] and ast.get_docstring(tree, clean=False) is not None


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
