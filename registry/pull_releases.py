"""Read torch releases that we do not know yet out of their wheels, by HTTP ranges."""

from __future__ import annotations

from collections.abc import Callable, Collection

from registry.errors import InvalidInput, Problem
from registry.model import Release
from registry.releases import SOURCES_IN_WHEEL, make_release
from registry.upstream import REGISTRY_PATH, parse_registry
from registry.wheels import WheelReader, list_torch_releases

Progress = Callable[[str, int, int], None]
"""Called with the release, files read so far, and files in all."""


def pull_releases(known: Collection[str], progress: Progress) -> tuple[Release, ...]:
    """Return every release on the package index that is not in `known`, oldest first."""
    return tuple(_pull_release(torch, progress) for torch in list_torch_releases() if torch not in known)


def _pull_release(torch: str, progress: Progress) -> Release:
    with WheelReader(torch) as wheel:
        parsed = parse_registry(wheel.read(REGISTRY_PATH), wheel.name)
        names = sorted(name for name in wheel.names() if SOURCES_IN_WHEEL.fullmatch(name))
        sources = {}
        for done, name in enumerate(names):
            progress(torch, done, len(names))
            try:
                sources[name] = wheel.read(name).decode("utf-8")
            except UnicodeDecodeError as error:
                raise InvalidInput([Problem(f"{wheel.name}: {name}", f"not UTF-8 ({error.reason})")]) from error
        progress(torch, len(names), len(names))
        return make_release(torch, wheel.name, parsed.wordings, sources, wheel.day_of(REGISTRY_PATH))
