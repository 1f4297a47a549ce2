"""The warm parent: imports torch and compiles once, then forks a child per job. A process of its own.

Jobs come as JSON lines on standard input, records go as JSON lines to standard output. It must never run an operator
with several threads: a child forked after that hangs.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from collections import deque
from pathlib import Path
from types import FrameType

from repro_runner.process.linux import adopt_orphans, die_with_parent
from repro_runner.runner.child import settle, work
from repro_runner.runner.job import Job, Limits
from repro_runner.runner.supervise import Supervisor

SAMPLE = """
import torch

layer = torch.nn.Linear(4, 4)


def inputs():
    return (torch.randn(3, 4),)


def broken(x):
    y = torch.nn.functional.relu(layer(x))
    torch._dynamo.graph_break()
    return torch.einsum("ij->i", y)


def fixed(x):
    return torch.einsum("ij->i", torch.nn.functional.relu(layer(x)))
"""
"""A program that takes the common ways through Dynamo, a break and its message among them."""


def warm_up(device: str) -> None:
    """Import torch and verify a sample, so that no child has to import, tokenise and look up the same things.

    Compiling touches the driver of a GPU where there is one, even a hidden one, and a child forked after that aborts
    in autograd or can't use the GPU: there importing is all.
    """
    import torch

    from repro_runner.runner.execute import execute

    torch.set_num_threads(1)
    if device == "cpu" and not Path("/dev/nvidiactl").exists():
        with tempfile.TemporaryDirectory(prefix="graphbreak-warm-") as folder:
            execute(Job(gb_id="GB0025", source=SAMPLE), Path(folder))
        del sys.modules["GB0025"]
        torch._dynamo.reset()
    gc.collect()
    gc.freeze()  # a collection in a child would write to, and so copy, every page that it shares with this process


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
    limits = Limits(seconds=float(seconds), memory=int(memory))
    if isolate == "fork":
        supervisor = Supervisor(fork_child, int(slots), limits, start_again=spawn_child)
    else:
        supervisor = Supervisor(spawn_child, int(slots), limits)

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
            job = waiting.popleft()
            supervisor.start(job)
            print(json.dumps({"started": job.key}), flush=True)
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
