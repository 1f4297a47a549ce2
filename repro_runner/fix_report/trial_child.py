"""The process that is forked for every run of a program, and what its forks do.

In a run's folder: `job.json` (what to run), then, of a trial, `calls.pt` (what compiled code returned) and
`result.json`, written last. Folders come over a socket, with the two streams of the run; its process id and its exit
code go back.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import socket
import sys
import traceback
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from repro_runner.fix_report.trial_sources import substituted
from repro_runner.process.linux import die_with_parent


def serve(descriptor: str) -> None:
    """Import what every program needs, and fork for each folder that is named, until nobody is there any more."""
    die_with_parent()
    _import_torch()
    line = socket.socket(fileno=int(descriptor))
    while True:
        folder, streams, _, _ = socket.recv_fds(line, 4096, 2)
        if not folder:
            return
        pid = os.fork()
        if not pid:
            _be_the_run(Path(folder.decode().rstrip("\n")), streams, line)
        for stream in streams:
            os.close(stream)
        line.sendall(f"{pid}\n".encode())
        _, status = os.waitpid(pid, 0)
        line.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())


def _import_torch() -> None:
    """Nothing may be computed here: a fork of a process whose threads have worked hangs."""
    for name in ("torch._inductor.config", "repro_runner.explain.running", "repro_runner.fix_report.trial_recording"):
        importlib.import_module(name)


def _be_the_run(folder: Path, streams: list[int], line: socket.socket) -> None:
    """Never returns: what comes after the fork is the other process's."""
    code = 1
    try:
        os.setsid()  # a group of its own: compilers start processes, which go with it
        die_with_parent()
        line.close()
        for number, stream in enumerate(streams, 1):
            os.dup2(stream, number)
            os.close(stream)
        _write_run(folder)
        code = 0
    except BaseException:  # noqa: BLE001  whatever it is, it must not go on in the other process's loop
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _write_run(folder: Path) -> None:
    job = json.loads((folder / "job.json").read_bytes())
    result = _TASKS[job["task"]](job, folder)
    unfinished = folder / "result.part"
    unfinished.write_text(json.dumps(result), "utf-8")
    unfinished.replace(folder / "result.json")


def _try(job: dict[str, Any], home: Path) -> dict[str, Any]:
    from repro_runner.explain.running import run_program
    from repro_runner.fix_report.job import program_of
    from repro_runner.fix_report.trial_recording import record_compiled_calls
    from repro_runner.fix_report.trial_values import count_values, write_calls

    _seed(job["seed"])
    with record_compiled_calls() as recording, substituted(job["changes"]):
        report = run_program(program_of(job))
    write_calls(home / "calls.pt", recording.calls)
    backends = sorted(recording.backends)
    return {
        "report": asdict(report),
        "calls": recording.call_count,
        "kept_calls": len(recording.calls),
        "sampled": recording.keeper.sampled,
        "graphs": recording.graphs,
        "ops_run": recording.ops_run,
        "backends": backends,
        "values": count_values(recording.calls),
        "differences": _differences(job["against"], recording.calls, backends),
    }


def _differences(against: str, calls: list[dict[str, Any]], backends: list[str]) -> dict[str, Any]:
    """From the run in the folder `against`, by path; done here, where torch is imported already."""
    if not against:
        return {}
    import torch

    from repro_runner.fix_report.trial_values import EXACT_BACKENDS, find_differences, read_calls, strictness

    torch.set_default_device(None)  # the program may have set another
    expected = read_calls(Path(against) / "calls.pt")
    exact = {*backends, *json.loads((Path(against) / "result.json").read_bytes())["backends"]} <= EXACT_BACKENDS
    with torch.no_grad():
        return {"found": find_differences(expected, calls, exact=exact), "strictness": strictness(exact=exact)}


def _seed(seed: int) -> None:
    """Seed everything; where `seed` is not 0, also whatever the program itself seeds becomes something else."""
    import torch
    import torch._inductor.config

    # Random numbers as eager draws them: those of generated kernels depend on where the graphs are cut.
    torch._inductor.config.fallback_random = True
    seeders: list[tuple[Any, str]] = [(random, "seed"), (torch, "manual_seed")]
    if (numpy := sys.modules.get("numpy")) is not None:
        seeders.append((numpy.random, "seed"))
    for owner, name in seeders:
        original = getattr(owner, name)
        original(seed)
        if seed:
            setattr(owner, name, _shifted(original, seed))


def _shifted(original: Callable[..., Any], by: int) -> Callable[..., Any]:
    def seed(value: Any = None, *args: Any, **kwargs: Any) -> Any:
        return original(value + by if isinstance(value, int) else value, *args, **kwargs)

    return seed


def _take_out(job: dict[str, Any], _: Path) -> dict[str, Any]:
    from repro_runner.fix_report.recording import take_out

    return {"places": take_out(job)}


def _probe(job: dict[str, Any], _: Path) -> dict[str, Any]:
    from repro_runner.fix_report.probing import probe

    return {"branches": probe(job)}


def _confirm(job: dict[str, Any], _: Path) -> dict[str, Any]:
    from repro_runner.fix_report.confirming import run_script

    return run_script(job)


_TASKS = {"try": _try, "take out": _take_out, "probe": _probe, "confirm": _confirm}
