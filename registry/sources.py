"""Where the registry is pulled from: upstream, the snapshot, the installed torch, a release, a URL or a file.

Only `upstream` falls back to the snapshot, and only when nobody could be reached or the answer was an error. An answer
that is not a registry is never passed over: that is InvalidInput. The other sources were named on purpose, so for
them a failure is an error.
"""

from __future__ import annotations

import ast
import importlib.util
import os
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path

from registry.errors import InvalidInput, Problem, PullFailed
from registry.http import MAX_BYTES, PATIENCE, Patience, fetch, shown_url
from registry.model import Origin, Revision
from registry.snapshot import Snapshot, sha256
from registry.upstream import OLDEST_RELEASE, REGISTRY_PATH, check_shrink, parse_registry

UPSTREAM_URL = f"https://raw.githubusercontent.com/pytorch/pytorch/main/{REGISTRY_PATH}"
UPSTREAM_VARIABLE = "GRAPHBREAK_UPSTREAM_URL"
"""Environment variable that names a mirror of UPSTREAM_URL."""

SOURCES = ("upstream", "snapshot", "torch", "release:2.15.0", "URL", "FILE")
"""How each is written; the help of generate_site.py says more of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pulled:
    """A registry that passed every check, and where it is from."""

    raw: bytes
    wordings: dict[str, tuple[Revision, ...]]
    """In file order, as upstream.parse_registry gives them."""
    origin: Origin
    warnings: tuple[Problem, ...] = ()
    fresh: bool = True
    """False when this is the snapshot in place of what was asked for."""
    failure: str = ""
    """Why it is not fresh."""


def pull(
    spec: str,
    snapshot: Snapshot,
    *,
    upstream_url: str | None = None,
    accept_shrink: bool = False,
    patience: Patience = PATIENCE,
) -> Pulled:
    """Get the registry that `spec` names; raise PullFailed or InvalidInput. Nothing is written."""
    if spec == "upstream":
        url = upstream_url or os.environ.get(UPSTREAM_VARIABLE) or UPSTREAM_URL
        return _pull_upstream(url, snapshot, accept_shrink, patience)
    if spec == "snapshot":
        return _keep_snapshot(snapshot)
    if spec == "torch":
        return _pull_installed_torch()
    if spec.startswith("release:"):
        return _pull_release(spec.removeprefix("release:"), patience)
    if spec.lower().startswith(("http://", "https://")):
        return _pull_url(spec, patience)
    return _pull_file(spec)


def _pull_upstream(url: str, snapshot: Snapshot, accept_shrink: bool, patience: Patience) -> Pulled:
    source = "pytorch main" if url == UPSTREAM_URL else shown_url(url)
    ours = snapshot.origin if snapshot.origin.source == source else None  # another server's ETag says nothing
    try:
        answer = fetch(
            url,
            etag=ours.etag if ours else "",
            last_modified=ours.last_modified if ours else "",
            patience=patience,
        )
    except PullFailed as failure:
        return replace(_keep_snapshot(snapshot), fresh=False, failure=str(failure))
    if answer.not_modified:
        return _keep_snapshot(snapshot)
    pulled = _accept(answer.body, source, shown_url(url), etag=answer.etag, last_modified=answer.last_modified)
    if not accept_shrink:
        _refuse_shrink(snapshot, pulled, shown_url(url))
    if ours and pulled.raw == snapshot.raw:  # the same text is not newer for having been sent again
        return replace(pulled, origin=replace(pulled.origin, retrieved=ours.retrieved))
    return pulled


def _keep_snapshot(snapshot: Snapshot) -> Pulled:
    return Pulled(raw=snapshot.raw, wordings=snapshot.wordings, origin=snapshot.origin, warnings=snapshot.warnings)


def _refuse_shrink(snapshot: Snapshot, pulled: Pulled, where: str) -> None:
    problems = list(check_shrink(snapshot.wordings, pulled.wordings, where))
    if problems:
        raise InvalidInput(problems)


def _pull_installed_torch() -> Pulled:
    """From the torch of this environment, found without importing it: that takes seconds, and may fail."""
    found = importlib.util.find_spec("torch")
    if found is None or found.origin is None:
        raise PullFailed("torch is not installed in this environment")
    package = Path(found.origin).parent
    source = f"torch {_torch_version(package)}"
    file = package.parent / REGISTRY_PATH
    if not file.exists():
        raise PullFailed(f"{source} has no {REGISTRY_PATH}; the first that has it is {OLDEST_RELEASE}")
    return _accept(_read_file(file, source), source, source)


def _torch_version(package: Path) -> str:
    try:
        statements = ast.parse((package / "version.py").read_bytes()).body
    except (OSError, SyntaxError, ValueError):
        return "(unknown version)"
    for statement in statements:
        match statement:
            case ast.Assign(targets=[ast.Name(id="__version__")], value=ast.Constant(value=str(version))):
                return version.partition("+")[0]
    return "(unknown version)"


def _pull_release(release: str, patience: Patience) -> Pulled:
    from registry.wheels import WheelReader

    with WheelReader(release, patience=patience) as wheel:
        return _accept(wheel.read(REGISTRY_PATH), f"release:{wheel.release}", wheel.name)


def _pull_url(url: str, patience: Patience) -> Pulled:
    answer = fetch(url, patience=patience)
    return _accept(answer.body, shown_url(url), shown_url(url), etag=answer.etag, last_modified=answer.last_modified)


def _pull_file(name: str) -> Pulled:
    return _accept(_read_file(Path(name), name), Path(name).name, name)


def _read_file(path: Path, shown: str) -> bytes:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise PullFailed(f"{shown}: no such file; a source is {' | '.join(SOURCES)}") from None
    except (OSError, ValueError) as error:
        raise PullFailed(f"{shown}: {getattr(error, 'strerror', None) or error}") from None
    if len(raw) > MAX_BYTES:
        raise PullFailed(f"{shown}: more than {MAX_BYTES:,} bytes, given up")
    return raw


def _accept(raw: bytes, source: str, where: str, *, etag: str = "", last_modified: str = "") -> Pulled:
    parsed = parse_registry(raw, where)
    origin = Origin(
        source=source,
        retrieved=datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        sha256=sha256(raw),
        etag=etag,
        last_modified=last_modified,
    )
    return Pulled(raw=raw, wordings=parsed.wordings, origin=origin, warnings=parsed.warnings)
