"""The code that runs in a child: run one repro under one backend, and return the record of what happened.

What is run is what a page shows: the card of each function, in a module and a process of its own. So a fix runs where
`broken` never ran, and knows only what its readers know. This process loads none of them: it judges what their
processes saw.
"""

from __future__ import annotations

import contextlib
import importlib
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from registry.model import SEEDS, VERIFIER
from registry.snippets import runnable_parts
from repro_runner.judge.observation import Plan
from repro_runner.judge.surroundings import Integrity
from repro_runner.runner.fix_check import check_fix, check_isolated
from repro_runner.runner.machine import ReproRun
from repro_runner.runner.part import Part, failed, run_here
from repro_runner.runner.program_runs import Forks, ProgramRuns
from repro_runner.runner.requires import requirements, unmet
from repro_runner.runner.scripts import failing_scripts
from repro_runner.torch_seams import reset

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
"""A program that uses the common parts of Dynamo, including a break and its message."""


def warm_up(device: str) -> None:
    """Verify a sample in the process that is forked, so that the children do not repeat its imports and lookups.

    On a machine with a GPU it only imports: compiling uses the driver, even of a hidden GPU, and a child that is forked
    after that aborts in autograd or can't use the GPU.
    """
    torch.set_num_threads(1)
    importlib.import_module("torch._inductor.compile_fx")  # two seconds, which every child would spend otherwise
    with contextlib.suppress(ImportError):  # a new torch may lack what only the mock accelerator needs
        importlib.import_module("repro_runner.graphs.by_name")
    if device == "cpu" and not Path("/dev/nvidiactl").exists():
        job, parts = ReproRun(program="GB0025", source=SAMPLE), runnable_parts(SAMPLE)
        # A torch that is built for CUDA starts threads for the first backward, even without a GPU, and then a child
        # that is forked can't run any.
        kinds = ("",) if torch.version.cuda or torch.version.hip else ("", "leaves", "non-leaves")
        plans = [Plan(seed=seed, gradients=kind) for kind in kinds for seed in SEEDS]
        with tempfile.TemporaryDirectory(prefix="graphbreak-warm-") as folder:
            integrity = Integrity()
            run_here(job, parts["broken"], "broken", Path(folder), integrity, Part.broken_compiled)
            for name in ("broken", "fixed"):
                run_here(job, parts[name], name, Path(folder), integrity, lambda part: part.eager(plans))
            run_here(job, parts["fixed"], "fixed", Path(folder), integrity, lambda part: part.compiled(plans))
        reset()


def run_repro(arguments: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The task of a child. `arguments` are the fields of a ReproRun."""
    return execute(ReproRun(**arguments), folder)


def execute(job: ReproRun, folder: Path) -> dict[str, Any]:
    """Run a repro in `folder` and return its record. It does not raise: errors are part of the record."""
    try:
        reason = unmet(requirements(job.source), torch.__version__, job.device)
    except ValueError as error:
        return failed(str(error))
    if reason:
        return {"verdict": "not applicable", "cause": reason}
    try:
        parts = _parts(job)
    except (SyntaxError, ValueError) as error:
        return failed(f"importing it raised {type(error).__name__}: {error}")
    if "broken" not in parts:
        return failed("it has no function `broken`")
    program = ProgramRuns(job, Forks(job, folder), parts["broken"])
    if program.failure:
        return program.failure
    others = sorted(parts.keys() - {"broken"})
    checked = {name: _check(program, name, parts[name]) for name in others}
    if job.answer and not checked["fixed"]["holds"]:
        checked["fixed"] = _check(program, "fixed", _with_answer(job))
    record = _assemble(program, checked)
    has_scripts = job.backend == "inductor" and job.device == "cpu" and not job.answer
    if has_scripts and (failing := failing_scripts(job, folder)):
        record["scripts"] = failing
    return record


def _check(program: ProgramRuns, name: str, text: str) -> dict[str, Any]:
    return (check_isolated if name.startswith("isolated") else check_fix)(program, name, text)


def _parts(job: ReproRun) -> dict[str, str]:
    """The text that is run for each function. `broken` never sees an answer."""
    if job.answer:
        return {"broken": job.source, "fixed": runnable_parts(_with_answer(job))["fixed"]}
    return runnable_parts(job.source)


def _with_answer(job: ReproRun) -> str:
    """The whole source, and an answer behind it. An answer may hold only here: it uses the second of two weights, say,
    and the first has to be drawn before. Or only without what it does not use, as fixes of the registry are run."""
    return f"{job.source}\n\n{job.answer}"


def _assemble(program: ProgramRuns, checked: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """The record of a repro, of what is known of its functions."""
    record = {**program.record, "verifier": VERIFIER}
    miscounted = [one for found in checked.values() for one in found.pop("miscounted", ())]
    for kind, start in (("fixes", "fixed"), ("isolated", "isolated")):
        record[kind] = {name: found for name, found in checked.items() if name.startswith(start)}
    if miscounted := [*program.miscounted, *miscounted]:
        record["miscounted"] = miscounted
    if program.job.gb_id in program.seen:
        holds = any(fix["holds"] for fix in record["fixes"].values())
        record["verdict"] = "verified" if holds and not program.eager_raises else "reproduced"
    elif not program.seen and program.raised:
        # Nothing broke because compiling failed with another error. That does not mean that the break is gone.
        return failed(f"compiled, it raised {program.raised}")
    else:
        record["verdict"] = "other id" if program.seen else "stopped"
    return record
