"""Other numbers for the constants of a program's module: a fix that has the given ones in its code fails with them."""

from __future__ import annotations

import ast

from registry.snippets import CONSTANTS


def with_other_constants(source: str, kind: int) -> str:
    """The source with every number that a statement of the module gives a name to changed: 1 up, 2 also by a half."""
    module = ast.parse(source)
    edits = []
    for node in module.body:
        if not isinstance(node, ast.Assign) or any(getattr(one, "id", "") in CONSTANTS for one in node.targets):
            continue
        number = node.value.value if isinstance(node.value, ast.Constant) else None
        if isinstance(number, int | float) and not isinstance(number, bool):
            other = number + kind if isinstance(number, int) else number * (1 + kind / 4) + 0.125
            edits.append((node.value, repr(other)))
    lines = source.splitlines(keepends=True)
    for value, text in reversed(edits):
        line = lines[value.lineno - 1].encode()
        lines[value.lineno - 1] = (line[: value.col_offset] + text.encode() + line[value.end_col_offset :]).decode()
    return "".join(lines)
