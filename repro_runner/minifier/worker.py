"""The warm process behind `Apart`: imports torch once, then forks a child per script.

Scripts come as JSON lines on standard input, what became of them goes as JSON lines to standard output. It must never
run an operator with several threads: a child forked after that hangs.
"""

from __future__ import annotations

import gc
import json
import os
import runpy
import signal
import sys
import traceback
from pathlib import Path
from types import FrameType
from typing import Any

from repro_runner.process.linux import adopt_orphans, die_with_parent
from repro_runner.runner.child import settle
from repro_runner.runner.job import Job, Limits
from repro_runner.runner.supervise import Supervisor


def warm_up() -> None:
    """Import what every script imports. Where there is a GPU that is all: compiling touches its driver, and a child
    forked after that can't use it."""
    import torch

    torch.set_num_threads(1)
    if not Path("/dev/nvidiactl").exists():
        torch.compile(lambda x: x + 1, backend="aot_eager")(torch.ones(2, requires_grad=True))
        torch._dynamo.reset()
        # Dynamo times the guards of every graph once, for its own statistics; flushing the cache for it takes 18 ms.
        guards: Any = torch._dynamo.guards
        guards.profile_guard_manager = lambda *_: 0.0
    gc.collect()
    gc.freeze()


def fork_child(job: Job, folder: Path, result: Path, output: int) -> int:
    """Start a child that runs the script at `job.source`, and notes its exit code."""
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        settle(folder, output)
        result.write_text(json.dumps({"code": _exit_code(job.source)}), "utf-8")
    finally:
        sys.stdout.flush()
        os._exit(0)


def _exit_code(path: str) -> int:
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    except BaseException:  # noqa: BLE001 - as the interpreter does
        traceback.print_exc()
        return 1
    return 0


def main() -> None:
    """Serve until standard input ends."""
    die_with_parent()
    adopt_orphans()
    running: list[Supervisor] = []

    def stop(_number: int, _frame: FrameType | None) -> None:
        for each in running:
            each.stop()
        os._exit(1)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the command, which then stops us
    warm_up()
    for line in sys.stdin:
        job = json.loads(line)
        supervisor = Supervisor(fork_child, 1, Limits(seconds=job["seconds"], memory=sys.maxsize))
        running[:] = [supervisor]
        supervisor.start(Job(gb_id="script", source=job["path"]))
        while supervisor.busy:
            for _, record, output in supervisor.finished():
                print(json.dumps({"record": record, "output": output}), flush=True)


if __name__ == "__main__":
    main()
