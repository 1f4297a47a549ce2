"""Breaks that a setting of torch._dynamo.config ends: what the registry's verified fix for the id sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from repro_runner.fix_report.patches.patch import Patch, Target


def find_flags(targets: Sequence[Target]) -> Iterator[Patch]:
    """One patch per setting, for every break that it is known to end, in whatever file that is."""
    wanted: dict[tuple[str, ...], list[Target]] = {}
    for target in targets:
        if target.settings:
            wanted.setdefault(target.settings, []).append(target)
    for settings, there in wanted.items():
        names = ", ".join(f"`{line.partition('=')[0].strip()}`" for line in settings)
        yield Patch(title=f"set {names}", targets=tuple(there), settings=settings)
