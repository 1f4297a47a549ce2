"""Proof that nothing has to be rendered: digests of everything that goes into the pages, and of the pages themselves.

The stamp lies in .cache/ and is never committed. Without it, or when anything differs, everything is rendered: it can
save work, not hide a change.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path

STAMP = Path(".cache") / "generate-site.json"
_INPUTS = ("registry", "sitegen", "templates")


def inputs_digest(root: Path, registry: bytes, origin: str) -> str:
    """Digest the registry that is shown, the data and the code beside it, and the library that renders."""
    total = hashlib.sha256(f"{origin}\0{version('jinja2')}\0".encode())
    total.update(registry)
    for path in _input_files(root):
        total.update(f"\0{path.relative_to(root).as_posix()}\0".encode())
        total.update(path.read_bytes())
    return total.hexdigest()


def _input_files(root: Path) -> Iterable[Path]:
    found = (path for folder in _INPUTS for path in (root / folder).rglob("*"))
    # The snapshot is covered by `registry` and `origin`; its file changes when they do.
    return sorted(path for path in found if path.is_file() and "__pycache__" not in path.parts)


def is_current(root: Path, docs: Path, inputs: str) -> bool:
    """Whether docs/ is what these inputs gave last time: same pages, no page more or less."""
    try:
        stamp = json.loads((root / STAMP).read_bytes())
        outputs: Mapping[str, str] = stamp["outputs"]
        return bool(stamp["inputs"] == inputs and outputs == _digests(docs, outputs))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def write_stamp(root: Path, docs: Path, inputs: str, outputs: Iterable[str]) -> None:
    """Remember what these inputs gave."""
    path = root / STAMP
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"inputs": inputs, "outputs": _digests(docs, outputs)}), "utf-8")


def _digests(docs: Path, outputs: Iterable[str]) -> dict[str, str]:
    names = {*outputs, *(f"gb/{path.name}" for path in (docs / "gb").glob("*.md"))}
    return {name: hashlib.sha256((docs / name).read_bytes()).hexdigest() for name in names}
