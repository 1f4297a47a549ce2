"""What "Copy" gives on a page, run: the script of `broken` has to print its id, that of a fix has to end well."""

from __future__ import annotations

import os
import runpy
import sys
import tempfile
import traceback
from functools import partial
from pathlib import Path

from registry.snippets import scripts
from repro_runner.process import in_fork
from repro_runner.runner.machine import ReproRun
from repro_runner.runner.part import normalise

_ENDED = "\nThe script ended."


def failing_scripts(job: ReproRun, folder: Path) -> dict[str, str]:
    """The function of each script that does not do so -> the end of what it writes. They use the default backend."""
    failing = {}
    for name, script in scripts(job.source).items():
        written = in_fork(partial(_run, script, folder / f"{job.program}.py")).decode("utf-8", "replace")
        wanted = f"{job.gb_id.lower()}.html" if name == "broken" else _ENDED
        if wanted not in written:
            failing[name] = normalise(written[-300:], folder)
    return failing


def _run(script: str, path: Path) -> bytes:
    """Run a script in this process, which ends after that, and return all that it writes, torch's log included."""
    path.write_text(script, "utf-8")
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), sys.stdout.fileno())
        os.dup2(file.fileno(), sys.stderr.fileno())
        try:
            runpy.run_path(str(path), run_name="__main__")
            print(_ENDED)
        except BaseException:  # noqa: BLE001 - whatever a script raises is what a reader would see
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        file.seek(0)
        return file.read()
