"""The warm parent: imports torch and compiles once, then forks a child per job. A process of its own.

Jobs come as JSON lines on standard input, records go as JSON lines to standard output. It must never run an operator
with several threads: a child forked after that hangs.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import traceback
from collections import deque
from pathlib import Path
from types import FrameType

from repro_runner.runner.child import settle, work
from repro_runner.runner.job import Job, Limits
from repro_runner.runner.linux import adopt_orphans, die_with_parent
from repro_runner.runner.supervise import Supervisor


def warm_up(device: str) -> None:
    """Import torch and compile something, so that no child has to.

    Compiling touches the driver of a GPU where there is one, even a hidden one, and a child forked after that aborts
    in autograd or can't use the GPU: there importing is all.
    """
    import torch

    torch.set_num_threads(1)
    if device != "cpu" or Path("/dev/nvidiactl").exists():
        return
    torch.compile(lambda x: x + 1, backend="eager")(torch.ones(1))
    torch._dynamo.reset()


def fork_child(job: Job, folder: Path, result: Path, output: int) -> int:
    """Start a child that is a copy of this process."""
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        settle(folder, output)
        work(job, folder, result)
        code = 0
    except BaseException:  # noqa: BLE001 - a forked child must never return into the parent's loop
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)


def spawn_child(job: Job, folder: Path, result: Path, output: int) -> int:
    """Start a child that imports torch by itself."""
    command = [sys.executable, "-m", "repro_runner.runner.child", str(folder), str(result)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=output, stderr=output, start_new_session=True)
    assert process.stdin is not None
    process.stdin.write(json.dumps(job.to_json()).encode())
    process.stdin.close()
    pid = process.pid
    process.returncode = 0  # the supervisor waits for it, not subprocess
    return pid


def main() -> None:
    """Arguments: fork | process, device, slots, seconds, memory in bytes."""
    die_with_parent()
    adopt_orphans()
    isolate, device, slots, seconds, memory = sys.argv[1:]
    if isolate == "fork":
        warm_up(device)
    supervisor = Supervisor(
        fork_child if isolate == "fork" else spawn_child, int(slots), Limits(seconds=float(seconds), memory=int(memory))
    )

    def stop(_number: int, _frame: FrameType | None) -> None:
        supervisor.stop()
        os._exit(1)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the command, which then stops us
    _serve(supervisor)


def _serve(supervisor: Supervisor) -> None:
    """Take jobs as they come, until there are no more and the last has ended."""
    waiting: deque[Job] = deque()
    arriving = _Lines(sys.stdin.fileno())
    while waiting or supervisor.busy or not arriving.ended:
        waiting.extend(Job.from_json(json.loads(line)) for line in arriving.now())
        while waiting and supervisor.has_room:
            supervisor.start(waiting.popleft())
        for job, record, output in supervisor.finished():
            ended = {"gb_id": job.gb_id, "backend": job.backend, "record": record, "output": output}
            print(json.dumps(ended), flush=True)


class _Lines:
    """Lines of a pipe without waiting for them."""

    def __init__(self, pipe: int) -> None:
        os.set_blocking(pipe, False)
        self._pipe, self._rest, self.ended = pipe, b"", False

    def now(self) -> list[bytes]:
        """The whole lines that have arrived."""
        while not self.ended:
            try:
                arrived = os.read(self._pipe, 1 << 20)
            except BlockingIOError:
                break
            self._rest += arrived
            self.ended = not arrived
        *lines, self._rest = self._rest.split(b"\n")
        return lines


if __name__ == "__main__":
    main()
