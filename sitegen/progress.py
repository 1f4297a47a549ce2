"""A progress bar where something takes long and stderr is a terminal; plain lines otherwise."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def release_progress() -> Iterator[Callable[[str, int, int], None]]:
    """Give a function to call with a release, the files read so far, and the files in all."""
    if not sys.stderr.isatty():
        yield _print_release
        return
    from rich.console import Console
    from rich.progress import Progress, TaskID

    tasks: dict[str, TaskID] = {}
    with Progress(console=Console(stderr=True)) as bars:

        def show(torch: str, done: int, total: int) -> None:
            if torch not in tasks:
                tasks[torch] = bars.add_task(f"torch {torch}", total=total)
            bars.update(tasks[torch], completed=done)

        yield show


def _print_release(torch: str, done: int, total: int) -> None:
    if done == 0:
        print(f"torch {torch}: reading {total} source files", file=sys.stderr)
