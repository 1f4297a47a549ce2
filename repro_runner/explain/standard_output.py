"""Standard output while somebody else's program runs in this process.

For a document it is kept free: what the program, C code in it and its children print goes to standard error. That
stays so until the process ends, since a thread or an `atexit` handler of the program may print after the document.
"""

from __future__ import annotations

import ctypes
import os
import sys
from io import FileIO
from pathlib import Path
from typing import TextIO

from registry.errors import WriteFailed


def keep_stdout(*, alone: bool) -> FileIO:
    """A way to write there whatever the program does to sys.stdout; with `alone`, from now on the only one."""
    flush_stdout()
    kept = FileIO(os.dup(1), "wb")  # a buffer would be emptied once more when Python ends
    if alone:
        os.dup2(2, 1)
        sys.stdout = sys.stderr
    return kept


def write_stdout(kept: FileIO, text: str) -> None:
    """All of it; WriteFailed where a disk behind it is full."""
    left = memoryview(text.encode("utf-8", "backslashreplace"))
    try:
        while left:
            left = left[kept.write(left) :]
    except BrokenPipeError:
        raise
    except OSError as error:
        raise WriteFailed(f"standard output: {error.strerror}; name a file with --out") from error


def flush_stdout() -> None:
    """Python's buffer and that of C code: the latter would empty itself after everything else."""
    sys.stdout.flush()
    if os.name == "posix":
        ctypes.CDLL(None).fflush(None)


def usable(stream: TextIO) -> TextIO:
    """The stream, with nothing left in it; one that leads nowhere where the program closed it, or nobody reads it."""
    try:
        stream.flush()
    except (OSError, ValueError):
        return Path(os.devnull).open("w", encoding="utf-8")
    return stream
