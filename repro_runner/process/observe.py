"""What other code starts: the commands of new processes, and the name of this one."""

from __future__ import annotations

import functools
import multiprocessing
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any


def process_name() -> str:
    """The name that `multiprocessing` gave this process; empty for one that it did not start."""
    name = multiprocessing.current_process().name
    return "" if name == "MainProcess" else name


@contextmanager
def noting_commands(note: Callable[[Sequence[str], Mapping[Any, Any] | None], None]) -> Iterator[None]:
    """Inside the block, `note` gets the words of each command that is started, and its own environment, if any."""
    popen: Any = subprocess.Popen
    start = popen.__init__

    @functools.wraps(start)
    def init(started: Any, args: Any, *more: Any, **options: Any) -> None:
        with suppress(Exception):  # never disturb the program
            words = [os.fsdecode(word) for word in ([args] if isinstance(args, (str, bytes)) else args)]
            note([os.fsdecode(options.get("executable") or words[0]), *words[1:]], options.get("env"))
        start(started, args, *more, **options)

    popen.__init__ = init
    try:
        yield
    finally:
        popen.__init__ = start
