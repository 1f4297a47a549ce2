"""What a child does between its start and its end, forked or fresh."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from repro_runner.process.linux import die_with_parent
from repro_runner.runner.job import Job


def settle(folder: Path, output: int) -> None:
    """A session of its own, its own folder, nothing to read, and output that goes to the supervisor."""
    os.setsid()
    die_with_parent()
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.chdir(folder)
    os.environ["TMPDIR"] = str(folder)


def work(job: Job, folder: Path, result: Path) -> None:
    """Execute the job and write its record, whole or not at all."""
    from repro_runner.runner.execute import execute

    record = execute(job, folder)
    unfinished = result.with_suffix(".part")
    unfinished.write_text(json.dumps(record), "utf-8")
    unfinished.replace(result)


def main() -> None:
    """A fresh process: the job comes on standard input, the two paths as arguments."""
    die_with_parent()
    folder, result = map(Path, sys.argv[1:])
    job = Job.from_json(json.loads(sys.stdin.read()))
    os.chdir(folder)
    work(job, folder, result)
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
