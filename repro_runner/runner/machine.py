"""Run repros on this machine, each under one backend, in its own child process."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from registry.datafile import DATA
from registry.ids import id_of_program
from registry.model import CHANGES_GRADIENTS, HOLDS, HOLDS_FOR_WHAT_RAN, REFUSED
from registry.releases import ids_by_type, read_releases
from repro_runner.environment import describe_environment
from repro_runner.process import Ended, Job, Limits, Pool, Service
from repro_runner.process.pool import ROOT

_KEPT = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "CC", "CXX", "TRITON_CACHE_DIR", "HOME")
_KEPT_PREFIXES = ("CUDA_", "NVIDIA_", "MOCK_")
_GOOD = frozenset({"verified", "reproduced", "not applicable"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ReproRun:
    """The job of a child: one repro, one backend, one device. All values can be stored as JSON."""

    program: str
    """Its name: `GB0007`, or `GB0007_time`."""
    source: str
    backend: str = "eager"
    device: str = "cpu"
    other_types: Mapping[str, str] = field(default_factory=dict)
    """Types of breaks that the installed torch may not know, with their ids."""
    thorough: bool = True
    """With gradients, and on inputs drawn for this run. Evidence needs both, and they take half of the time."""
    load_seed: int = 0
    """The seed with which a program draws its weights while it is loaded."""
    answer: str = ""
    """Code of somebody else that defines `fixed`, for a source without fixes. It has to print what `broken` prints."""

    @property
    def gb_id(self) -> str:
        return id_of_program(self.program)

    @property
    def key(self) -> str:
        return f"{self.program}/{self.backend}"

    def to_job(self) -> Job:
        return Job(key=self.key, arguments=asdict(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """A run that ended."""

    program: str
    backend: str
    record: Mapping[str, Any]
    """What goes into the evidence file."""
    output: str

    @classmethod
    def of(cls, ended: Ended) -> Finished:
        """The finished run of a child that ended. If the child was killed or died, the verdict is `failed`."""
        program, _, backend = ended.key.partition("/")
        record = ended.result or {"verdict": "failed", "cause": ended.failure}
        return cls(program=program, backend=backend, record=record, output=ended.stdout.text)

    @property
    def problem(self) -> str:
        """What is not as it should be, as text; empty if all is."""
        record = self.record
        if record["verdict"] not in _GOOD:
            ids = ", ".join([*record.get("ids", []), *record.get("ids_fullgraph", [])])
            return str(record.get("cause", "")) or ids or "no break"
        refused = [name for name, level in self.levels.items() if level == REFUSED]
        wrong = [f"{name}: {record['fixes'][name].get('cause') or record['fixes'][name]}" for name in refused]
        isolated = record.get("isolated", {}).items()
        return "; ".join(wrong + [f"{name}: {found.get('cause')}" for name, found in isolated if not found["equal"]])

    @property
    def levels(self) -> dict[str, str]:
        """What the judge says of each fix."""
        return {name: self._level(name, found) for name, found in self.record.get("fixes", {}).items()}

    def _level(self, name: str, found: Mapping[str, Any]) -> str:
        if found.get("gradient") == "excused":
            return CHANGES_GRADIENTS
        if not found["holds"]:
            return REFUSED
        return HOLDS_FOR_WHAT_RAN if name in self.never_reached else HOLDS

    @property
    def never_reached(self) -> dict[str, str]:
        """By fix, the parts of the program that it replaces and that no input reached."""
        fixes = self.record.get("fixes", {}).items()
        return {name: "; ".join(found["never_reached"]) for name, found in fixes if "never_reached" in found}


def open_pool(device: str, *, isolate: str = "fork", slots: int = 1, limits: Limits | None = None) -> Pool:
    """A pool whose children run repros."""
    service = Service(
        task="repro_runner.runner.execute:run_repro",
        warm_up="repro_runner.runner.execute:warm_up",
        warm_up_arguments=(device,),
        isolate=isolate,
        second_opinion=True,
        slots=slots,
        limits=limits or Limits(),
    )
    return Pool(service, child_environment(device))


class ThisMachine:
    """Runs repros in children of one server process on this machine."""

    def __init__(self, device: str, *, isolate: str = "fork", limits: Limits | None = None, slots: int = 1) -> None:
        self._device = device
        self._pool = open_pool(device, isolate=isolate, slots=slots, limits=limits)

    def environment(self) -> dict[str, str]:
        """The header of the evidence file."""
        return describe_environment(self._device)

    def run(self, runs: Sequence[ReproRun], started: Callable[[str], None] = lambda _: None) -> Iterator[Finished]:
        """Yield each run as it ends. `started` is called with the key of each run that starts."""
        with self._pool as pool:
            yield from map(Finished.of, pool.run_all([run.to_job() for run in runs], started))


def known_types() -> dict[str, str]:
    """Types of breaks of every release -> their ids."""
    types: dict[str, str] = {}
    for release in read_releases(DATA / "releases"):
        types |= ids_by_type(release.wordings)
    return types


def child_environment(device: str = "cpu") -> dict[str, str]:
    """The environment variables that torch needs, and no others: a repro sees no tokens, and a GPU only for `cuda`."""
    kept = {name: value for name, value in os.environ.items() if name in _KEPT or name.startswith(_KEPT_PREFIXES)}
    cache = Path(tempfile.gettempdir()) / f"graphbreak-inductor-{os.getuid()}"
    if device == "cpu":
        kept["CUDA_VISIBLE_DEVICES"] = ""
    return {
        **kept,
        "PYTHONPATH": str(ROOT),
        "PYTHONHASHSEED": "0",
        "PYTORCH_NVML_BASED_CUDA_CHECK": "1",  # else looking for a GPU makes a process that can't be forked
        "GRAPHBREAK_ARTIFACTS": "0",  # else the mock backend saves the graphs of every program
        "OMP_NUM_THREADS": "1",
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        "TORCHINDUCTOR_CACHE_DIR": str(cache),
        "TORCHINDUCTOR_AUTOGRAD_CACHE": "0",  # else what is cached decides how often Dynamo traces a dynamic float
    }
