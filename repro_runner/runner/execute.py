"""The code that runs in a child: run one repro under one backend, and return the record of what happened.

What is run is what a page shows: the card of each function, in a module and a process of its own. So a fix runs where
`broken` never ran, and knows only what its readers know.
"""

from __future__ import annotations

import contextlib
import importlib.util
import pickle
import random
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from registry.model import FRESH_SEEDS, SEEDS, VERIFIER
from registry.snippets import runnable_parts
from repro_runner.process import in_fork
from repro_runner.runner.gradients import EAGER_RAISES, NO_GRAD_FN
from repro_runner.runner.machine import ReproRun
from repro_runner.runner.part import Part, failed, no_fix, run_here
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
        with tempfile.TemporaryDirectory(prefix="graphbreak-warm-") as folder:

            def here(name: str, work: Callable[[Part], dict[str, Any]]) -> dict[str, Any]:
                return run_here(job, parts[name], name, Path(folder), SEEDS, work)

            program = here("broken", lambda part: part.run("broken", b""))
            here("fixed", lambda part: part.run("fixed", program["expected"]))
            # A torch that is built for CUDA starts threads for the first backward, even without a GPU, and then a child
            # that is forked can't run any.
            if not (torch.version.cuda or torch.version.hip):
                gradients = here("broken", Part.eager_gradients)
                here("fixed", lambda part: part.compare_gradients("fixed", gradients))
        del sys.modules["GB0025"]
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
    runs = _Runs(job, parts, folder)
    program = runs.of("broken")
    if "verdict" in program:
        return program
    others = sorted(parts.keys() - {"broken"})
    checked = {name: runs.check(name, program["expected"]) for name in others}
    if job.answer and not checked["fixed"]["record"]["holds"]:
        parts["fixed"] = _with_answer(job)
        checked["fixed"] = runs.check("fixed", program["expected"])
    record = _assemble(job, program, checked)
    has_scripts = job.backend == "inductor" and job.device == "cpu" and not job.answer
    if has_scripts and (failing := failing_scripts(job, folder)):
        record["scripts"] = failing
    return record


def _parts(job: ReproRun) -> dict[str, str]:
    """The text that is run for each function. `broken` never sees an answer."""
    if job.answer:
        return {"broken": job.source, "fixed": runnable_parts(_with_answer(job))["fixed"]}
    return runnable_parts(job.source)


def _with_answer(job: ReproRun) -> str:
    """The whole source, and an answer behind it. An answer may hold only here: it uses the second of two weights, say,
    and the first has to be drawn before. Or only without what it does not use, as fixes of the registry are run."""
    return f"{job.source}\n\n{job.answer}"


class _Runs:
    """The runs of one repro, each in a fork of this process."""

    def __init__(self, job: ReproRun, parts: Mapping[str, str], folder: Path) -> None:
        self._job, self._parts, self._folder = job, parts, folder
        fresh = random.SystemRandom().sample(range(1000, 2**31), FRESH_SEEDS)
        self._seeds = (*SEEDS, *(fresh if job.thorough else ()))
        self._eager_gradients: dict[str, Any] = {}

    def of(self, name: str, expected: bytes = b"") -> dict[str, Any]:
        """What is known of a function. `expected` is what `broken` gave in eager."""
        return self._fork(name, lambda part: part.run(name, expected))

    def check(self, name: str, expected: bytes) -> dict[str, Any]:
        """The same, with the gradients of a fix that gives what eager gives. There is a record in any case."""
        found = self.of(name, expected)
        if "verdict" in found:
            found["record"] = no_fix(found["cause"])
        elif self._job.thorough and name.startswith("fixed") and found["record"]["equal"]:
            found["record"] |= self.gradients(name, found["excuse"])
        return found

    def gradients(self, fix: str, excuse: str) -> dict[str, Any]:
        """What is known of the gradients of a fix, in double precision: it shows differences that rounding hides.

        In single precision if one of the two can't be run in double. `excuse` is what GRADIENT says of the fix.
        """
        raised = reason = ""
        for dtype in (torch.float64, torch.float32):
            eager = self._gradients("broken", dtype, {})
            if "gradients" not in eager:
                reason = eager.get("reason", EAGER_RAISES)
                continue
            found = self._gradients(fix, dtype, eager)
            raised = found.get("cause", "")
            if not raised:
                return self._judged(found["difference"], excuse) if found["flows"] else {"gradient": NO_GRAD_FN}
        said = f"with inputs that require grad it raised {raised}"
        return self._judged(said, excuse) if raised else {"gradient": reason}

    def _judged(self, difference: str, excuse: str) -> dict[str, Any]:
        """The fields of a fix's record about its gradients."""
        if difference and excuse:
            return {"gradient": "excused", "holds": False}
        if excuse and self._job.backend == "eager":  # with another backend it may not be needed
            difference = "GRADIENT says that the gradients differ, but they are those of eager"
        return {"gradient": "differs", "holds": False, "cause": difference} if difference else {"gradient": "equal"}

    def _gradients(self, name: str, dtype: torch.dtype, eager: dict[str, Any]) -> dict[str, Any]:
        if name != "broken":
            return self._fork(name, lambda part: part.compare_gradients(name, eager), dtype)
        key = str(dtype)
        if key not in self._eager_gradients:
            self._eager_gradients[key] = self._fork(name, Part.eager_gradients, dtype)
        found: dict[str, Any] = self._eager_gradients[key]
        return found

    def _fork(self, name: str, work: Callable[[Part], Any], dtype: torch.dtype = torch.float32) -> dict[str, Any]:
        """What `work` returns of one function that was loaded in a fork."""

        def in_child() -> bytes:
            torch.set_default_dtype(dtype)
            return pickle.dumps(run_here(self._job, self._parts[name], name, self._folder, self._seeds, work))

        found: dict[str, Any] = pickle.loads(in_fork(in_child))
        return found


def _assemble(job: ReproRun, program: dict[str, Any], checked: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The record of a repro, of what is known of its functions."""
    record = {**program["record"], "verifier": VERIFIER}
    for kind, start in (("fixes", "fixed"), ("isolated", "isolated")):
        record[kind] = {name: found["record"] for name, found in checked.items() if name.startswith(start)}
    if miscounted := [one for found in (program, *checked.values()) for one in found.get("miscounted", ())]:
        record["miscounted"] = miscounted
    if job.gb_id in program["seen"]:
        holds = any(fix["holds"] for fix in record["fixes"].values())
        record["verdict"] = "verified" if holds and not program["eager_raises"] else "reproduced"
    elif not program["seen"] and program["raised"]:
        # Nothing broke because compiling failed with another error. That does not mean that the break is gone.
        return failed(f"compiled, it raised {program['raised']}")
    else:
        record["verdict"] = "other id" if program["seen"] else "stopped"
    return record
