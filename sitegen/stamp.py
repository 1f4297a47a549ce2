"""What the last run leaves to the next: digests of everything that goes into the pages, and of the pages themselves.

If all is as it was, nothing has to be rendered. A page is taken from docs/ if what it is made of is as it was, and the
page, too. The stamp lies in .cache/ and is never committed. Without it, or when the code or a template differs,
everything is rendered: it can save work, not hide a change. So inputs are digested before they are read, and outputs as
they were rendered: what changes on the disk in the meantime does not match the next time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import version
from pathlib import Path

import registry
import sitegen
from sitegen.generated_folders import files_in

STAMP = Path(".cache") / "generate-site.json"

Texts = Mapping[str, str]
"""Path under docs/ -> text."""
Keep = Callable[[str, object, Callable[[], Texts]], Texts]
"""(a name, all that some files are made of, what makes them) -> the files."""


def make_again(_name: str, _inputs: object, make: Callable[[], Texts]) -> Texts:
    """Keep nothing."""
    return make()


class LastRun:
    """What the last run in a checkout found and made; this one leaves the same to the next."""

    def __init__(self, root: Path, docs: Path, pulled: Iterable[object]) -> None:
        self._root, self._docs = root, docs
        self._code = code_digest(root)
        self._inputs = inputs_digest(root, (self._code, *pulled))
        self._made: dict[str, tuple[str, dict[str, str]]] = {}
        """Name -> (digest of the inputs, path -> digest of the text): true for ever, whatever happened since."""
        self._old_inputs, self._outputs = "", dict[str, str]()
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            stamp = json.loads((root / STAMP).read_bytes())
            self._made = {name: (digest, dict(paths)) for name, (digest, paths) in stamp["made"].items()}
            self._old_inputs, self._outputs = stamp["inputs"], dict(stamp["outputs"])

    def is_current(self) -> bool:
        """Whether docs/ is what these inputs gave: same pages, no page more or less."""
        try:
            if self._old_inputs != self._inputs:
                return False
            pages = (f"gb/{path.name}" for path in (self._docs / "gb").glob("*.md"))
            names = {*self._outputs, *pages, *files_in(self._docs)}
            return self._outputs == {name: _digest((self._docs / name).read_bytes()) for name in names}
        except OSError:
            return False

    def keep(self, name: str, inputs: object, make: Callable[[], Texts]) -> Texts:
        """Files as they lie in docs/, if the last run made them of the same; else what `make` makes.

        What is not asked for this time is still there the next time, for as long as its files are written.
        """
        digest = digest_of((self._code, inputs))
        texts = self._kept(name, digest) or make()
        self._made[name] = digest, {path: _digest(text.encode()) for path, text in texts.items()}
        return texts

    def _kept(self, name: str, digest: str) -> Texts:
        made_of, paths = self._made.get(name, ("", {}))
        if made_of == digest:
            with contextlib.suppress(OSError):
                contents = {path: (self._docs / path).read_bytes() for path in paths}
                if all(paths[path] == _digest(content) for path, content in contents.items()):
                    return {path: content.decode() for path, content in contents.items()}
        return {}

    def leave(self, texts: Texts) -> None:
        """Remember what this run made; a stamp that can't be written saves nothing, and spoils nothing."""
        outputs = {name: _digest(text.encode("utf-8")) for name, text in texts.items()}
        made = {name: one for name, one in self._made.items() if one[1].keys() <= texts.keys()}
        stamp = {"inputs": self._inputs, "outputs": outputs, "made": made}
        with contextlib.suppress(OSError):
            (self._root / STAMP).parent.mkdir(exist_ok=True)
            (self._root / STAMP).write_text(json.dumps(stamp), "utf-8")


def digest_of(facts: object) -> str:
    """Digest data by its `repr`: it tells dataclasses, texts and numbers apart, and a set is not in it."""
    return _digest(repr(facts).encode())


def inputs_digest(root: Path, pulled: Iterable[object]) -> str:
    """Digest what was pulled, and the data beside it.

    All but the snapshot, which `pulled` stands for: a pull may be about to change it.
    """
    folders = (root / name for name in ("registry", "examples", "notebooks"))
    paths = (path for folder in folders for path in folder.rglob("*"))
    data = (path for path in paths if path.parent.name not in ("__pycache__", "snapshot"))
    return _digest_of(pulled, ((str(path.relative_to(root)), path) for path in data))


def code_digest(root: Path) -> str:
    """Digest our own code, the templates, and the libraries that render."""
    packages = ((package.__name__, Path(str(package.__file__)).parent) for package in (registry, sitegen))
    code = ((f"{name}:{path.name}", path) for name, own in packages for path in (*own.glob("*.py"), *own.glob("*.css")))
    templates = ((str(path.relative_to(root)), path) for path in (root / "templates").rglob("*"))
    return _digest_of((sys.version, version("jinja2"), version("vl-convert-python")), (*code, *templates))


def _digest_of(facts: Iterable[object], files: Iterable[tuple[str, Path]]) -> str:
    """Of facts, and of files: (a name that does not depend on where the checkout lies, path)."""
    total = hashlib.sha256(repr(tuple(facts)).encode())
    for name, path in sorted(files):
        if path.is_file():
            total.update(b"\0" + os.fsencode(name) + b"\0")
            total.update(path.read_bytes())
    return total.hexdigest()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
