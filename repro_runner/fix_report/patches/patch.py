"""A mechanical fix: what it is meant for, what it edits, and what else it changes."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from repro_runner.explain.site import Site
from repro_runner.fix_report.patches.source import Edit, Edited, Source, apply_edits


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A break that a patch is wanted for."""

    site: Site
    line: int
    """In the program's own file; 0 for a break in another."""
    settings: tuple[str, ...] = ()
    """What the registry's verified fix by a flag sets, if it has one: a line each."""

    @property
    def is_inlined(self) -> bool:
        """Whether it is in a function that compiled code calls."""
        return len(self.site.stack) > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """A branch on a tensor that becomes `torch.where`: to be looked at in a run before it is trusted."""

    probe: Edit
    """The text that looks at it, in place of the branch."""
    partial: str = ""
    """An operation that has no gradient everywhere, if there is one in an arm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """Edits that go together."""

    title: str
    targets: tuple[Target, ...]
    edits: tuple[Edit, ...] = ()
    settings: tuple[str, ...] = ()
    """Lines that have to run before anything is compiled; they come after the import of torch."""
    imports: tuple[str, ...] = ()
    """Modules that the settings need besides torch."""
    changes: str = ""
    """What is no longer as it was, besides the breaks."""
    reorders: bool = False
    """Lines may be printed in another order."""
    silences: bool = False
    """Lines may no longer be printed."""
    excludes: bool = False
    """A function is no longer compiled."""
    branch: Branch | None = None
    otherwise: Patch | None = None
    """What to try if this one does not hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why nothing is tried for a break, though a fix of its kind is known."""

    target: Target
    reason: str


def apply_patches(source: Source, patches: Iterable[Patch]) -> Edited:
    """The program with all of them; ValueError if two of them edit the same place."""
    patches = list(patches)
    edits = list(dict.fromkeys(edit for patch in patches for edit in patch.edits))
    settings = dict.fromkeys(line for patch in patches for line in patch.settings)
    imports = dict.fromkeys(name for patch in patches for name in patch.imports)
    if settings:
        edits.append(_prologue(source, list(imports), list(settings)))
    return apply_edits(source, edits)


def _prologue(source: Source, imports: list[str], settings: list[str]) -> Edit:
    """After the imports at the top that include torch's; where there are none, after what has to come first."""
    after, has_torch = _last_import(source.tree)
    lines = [*([] if has_torch else ["import torch"]), *(f"import {name}" for name in imports), *settings]
    at = source.line_start(_last_line_of(source.tree, after) + 1) if after else source.after_first_lines()
    text = "".join(line + source.newline for line in "\n".join(lines).split("\n"))
    if at and source.text[at - 1] not in "\r\n":
        text = source.newline + text
    return Edit(start=at, end=at, text=text)


def has_torch(source: Source) -> bool:
    """Whether torch goes by its own name in the whole program."""
    return any(map(_binds_torch, source.tree.body))


def _last_import(tree: ast.Module) -> tuple[ast.stmt | None, bool]:
    """The statement to insert after, and whether torch is there by then."""
    start = next((place for place, each in enumerate(tree.body) if _binds_torch(each)), None)
    if start is None:
        first = [each for each in tree.body if _is_docstring(tree, each) or _is_future(each)]
        return (first[-1] if first else None), False
    while start + 1 < len(tree.body) and isinstance(tree.body[start + 1], ast.Import | ast.ImportFrom):
        start += 1
    return tree.body[start], True


def _last_line_of(tree: ast.Module, statement: ast.stmt) -> int:
    """Other statements may stand on its last line, and go on after it."""
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
