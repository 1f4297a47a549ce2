"""Proof that nothing has to be rendered: digests of everything that goes into the pages, and of the pages themselves.

The stamp lies in .cache/ and is never committed. Without it, or when anything differs, everything is rendered: it can
save work, not hide a change. So inputs are digested before they are read, and outputs as they were rendered: what
changes on the disk in the meantime does not match the next time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path

import registry
import sitegen
from sitegen.generated_folders import files_in

STAMP = Path(".cache") / "generate-site.json"


def inputs_digest(root: Path, pulled: Iterable[object]) -> str:
    """Digest what was pulled, the data and templates beside it, our own code, and the library that renders."""
    total = hashlib.sha256(repr((version("jinja2"), version("vl-convert-python"), *pulled)).encode())
    for name, path in sorted(_input_files(root)):
        total.update(b"\0" + os.fsencode(name) + b"\0")
        total.update(path.read_bytes())
    return total.hexdigest()


def _input_files(root: Path) -> Iterator[tuple[str, Path]]:
    """Yield (a name that does not depend on where the checkout lies, path).

    All but the snapshot, which `pulled` stands for: a pull may be about to change it.
    """
    for package in (registry, sitegen):
        own = Path(str(package.__file__)).parent
        yield from ((f"{package.__name__}:{path.name}", path) for path in (*own.glob("*.py"), *own.glob("*.css")))
    for folder in (root / name for name in ("registry", "templates", "examples", "notebooks")):
        for path in folder.rglob("*"):
            if path.is_file() and path.parent.name not in ("__pycache__", "snapshot"):
                yield str(path.relative_to(root)), path


def is_current(root: Path, docs: Path, inputs: str) -> bool:
    """Whether docs/ is what these inputs gave last time: same pages, no page more or less."""
    try:
        stamp = json.loads((root / STAMP).read_bytes())
        outputs: Mapping[str, str] = stamp["outputs"]
        names = {*outputs, *(f"gb/{path.name}" for path in (docs / "gb").glob("*.md")), *files_in(docs)}
        on_disk = {name: _digest((docs / name).read_bytes()) for name in names}
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return bool(stamp["inputs"] == inputs and outputs == on_disk)


def write_stamp(root: Path, inputs: str, texts: Mapping[str, str]) -> None:
    """Remember what these inputs gave; a stamp that can't be written saves nothing, and spoils nothing."""
    outputs = {name: _digest(text.encode("utf-8")) for name, text in texts.items()}
    with contextlib.suppress(OSError):
        (root / STAMP).parent.mkdir(exist_ok=True)
        (root / STAMP).write_text(json.dumps({"inputs": inputs, "outputs": outputs}), "utf-8")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
