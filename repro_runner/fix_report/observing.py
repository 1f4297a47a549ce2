"""In a child: run a program to its end, and record what it did and what it holds then, as data. After that, call its
compiled functions again, with inputs that the program did not give them.
"""

from __future__ import annotations

import itertools
import linecache
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from repro_runner.explain.running import run_program
from repro_runner.fix_report.compiled_calls import FirstCall, Recording, record_compiled_calls
from repro_runner.fix_report.tasks import program_of, seed_all, substituted
from repro_runner.judge import FILES, MODES, RANDOM, STATE
from repro_runner.judge.inputs import plain_variations, searches, variations_of
from repro_runner.judge.leaves import Flat, Room
from repro_runner.judge.observation import Call, Observation, Plan, dump, load
from repro_runner.judge.reached import Position, noted, unreached
from repro_runner.judge.recording import Calls
from repro_runner.judge.state import Walk, is_own, program_modules
from repro_runner.judge.surroundings import Effects, Integrity, WrittenFiles, modes, random_states, watched
from repro_runner.process import in_fork

SEEN, OTHERS = "seen.pt", "others.pt"
"""The files with what the program did, and with what its functions do with other inputs."""
_MOST_FUNCTIONS = 4
_SECONDS = 2.0
"""How long a call with other inputs may take in the original."""
_FLOWS = ("leaves", "non-leaves")
_TEN_YEARS = 315_360_000
"""In seconds. A change that waits for a day is run on another, with other random inputs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How a program is run."""

    seed: int = 0
    """If it is not 0, it is also added to every seed that the program sets."""
    eager: bool = False
    """Without the compiler, on one thread. All that it does beside its results is watched, and what of it runs."""
    double: bool = False
    """With float64 as the default dtype."""
    hasty: bool = False
    """With clocks that run three times as fast: what differs then was measured."""
    others: tuple[tuple[str, ...], ...] | None = None
    """The other inputs to try, as (number of the function, variation, gradients); None for all there are."""


def try_program(arguments: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Run the program with the texts in `changes` instead of its files. Returns explain's report and counts.

    What it did lies in SEEN, and in OTHERS after a run in eager.
    """
    way = Way(**arguments["way"])
    return _Watch(way, tuple(arguments["files"]), folder).run(arguments)


class _Watch:
    """One run of one program."""

    def __init__(self, way: Way, files: tuple[str, ...], folder: Path) -> None:
        self._way, self._folder = way, folder
        self._positions: dict[str, set[Position]] = {file: set() for file in files}
        self._written = WrittenFiles(Path.cwd())
        self._before: Flat = {}
        self._ended: dict[str, Flat] = {}
        self._tracing = ExitStack()

    def run(self, arguments: dict[str, Any]) -> dict[str, Any]:
        if self._way.hasty or (self._way.eager and self._way.seed):  # compiled, Dynamo knows the clocks of Python
            _set_clocks(speed=3 if self._way.hasty else 1, later=_TEN_YEARS if self._way.seed else 0)
        seed_all(self._way.seed)
        integrity = Integrity()
        with ExitStack() as undo:
            if self._way.double:
                torch.set_default_dtype(torch.float64)
            recording = undo.enter_context(record_compiled_calls(self._begin, eager=self._way.eager))
            undo.enter_context(substituted(arguments["changes"]))
            effects = undo.enter_context(watched(streams=False)) if self._way.eager else Effects()
            if self._way.eager:
                torch.set_num_threads(1)  # then it can be forked
                undo.enter_context(self._tracing).enter_context(noted(self._positions, set()))
            report = run_program(
                program_of(arguments), at_end=lambda main: self._end(main, recording, effects.flat(), way=self._way)
            )
        observed = Observation(
            calls=tuple(recording.calls), before=self._before, ended=self._ended, replaced=integrity.broken()
        )
        (self._folder / SEEN).write_bytes(dump(observed))
        return {
            "report": asdict(report),
            "calls": recording.call_count,
            "kept_calls": len(recording.calls),
            "sampled": recording.room.sampled,
            "left_out": recording.room.left_out,
            "graphs": recording.graphs,
            "ops_run": recording.ops_run,
            "backends": sorted(recording.backends),
            "made_up": recording.made_up,
            "functions": list(recording.first_calls),
            "callers": sorted(recording.callers),
            "positions": {file: sorted(found) for file, found in self._positions.items()},
            "ended": bool(self._ended),
        }

    def _begin(self, recording: Recording) -> None:
        """Something compiled is called for the first time."""
        main = sys.modules["__main__"]
        with torch.no_grad():
            self._before = _held(_folder_of(main), main, recording)

    def _end(self, main: ModuleType, recording: Recording, effects: Mapping[str, Flat], *, way: Way) -> None:
        recording.is_over = True
        self._tracing.close()
        with torch.no_grad():
            self._ended = {STATE: _held(_folder_of(main), main, recording)}
        if not way.eager:
            return
        self._ended |= {**effects, RANDOM: random_states(), MODES: modes(), FILES: self._written.flat()}
        own = Calls(main, lambda: None, lambda _: (), files=False, room=_small_room())
        made = self._calls_with_other_inputs(main, recording)
        observed = Observation(before=own.state(), calls=tuple(made))
        (self._folder / OTHERS).write_bytes(dump(observed))

    def _calls_with_other_inputs(self, main: ModuleType, recording: Recording) -> Iterator[Call]:
        for number, first in enumerate(itertools.islice(recording.first_calls.values(), _MOST_FUNCTIONS), 1):
            calls = Calls(main, first.call, lambda _, one=first: one.given(), files=False, room=_small_room())  # type: ignore[misc]
            calls.seconds = _SECONDS * (1 if self._way.others is None else 5)
            for plan in self._plans(number, first):
                found = self._forked(calls, first.call, plan)
                is_new = any(found.more["positions"][file] for file in self._positions) if found.calls else False
                is_wanted = self._way.others is not None or is_new or not plan.variation.startswith("other side")
                if found.calls and is_wanted:
                    yield from found.calls
                if is_new and not found.calls[0].failed:
                    for file, positions in found.more["positions"].items():
                        self._positions[file].update(map(tuple, positions))

    def _plans(self, number: int, first: FirstCall) -> Iterator[Plan]:
        if self._way.others is not None:
            chosen = (one for one in self._way.others if one[0] == str(number))
            yield from (Plan(seed=number, variation=variation, gradients=flow) for _, variation, flow in chosen)
            return
        kinds = itertools.chain(plain_variations(), variations_of(first.given()), self._searches())
        yield from (Plan(seed=number, variation=one) for one in kinds)
        if first.with_gradients:
            yield from (
                Plan(seed=number, variation=one, gradients=flow) for one in ("", "zero", "large") for flow in _FLOWS
            )

    def _searches(self) -> Iterator[str]:
        texts = ((file, "".join(linecache.getlines(file))) for file in self._positions)
        return searches() if any(unreached(text, self._positions[file]) for file, text in texts) else iter(())

    def _forked(self, calls: Calls, function: Callable[..., Any], plan: Plan) -> Observation:
        """One call in a fork: what it changes, and what it breaks, is not there for the next."""

        def work() -> bytes:
            positions: dict[str, set[Position]] = {file: set() for file in self._positions}
            with noted(positions, set()):
                made = tuple(calls.make(function, [plan]))
            new = {file: sorted(found - self._positions[file]) for file, found in positions.items()}
            return dump(Observation(calls=made, more={"positions": new}))

        sent = in_fork(work, may_die=True)
        return load(sent) if sent else Observation()


def _set_clocks(*, speed: int, later: int) -> None:
    for name in ("time", "time_ns", "perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns", "process_time"):
        shift = {"time": later, "time_ns": later * 10**9}.get(name, 0)
        setattr(time, name, _clock(getattr(time, name), speed, shift))


def _clock(clock: Callable[[], float], speed: int, shift: int) -> Callable[[], float]:
    began = clock()
    return lambda: began + shift + speed * (clock() - began)


def _folder_of(main: ModuleType) -> str:
    return str(Path(main.__file__ or "").parent)


def _small_room() -> Room:
    return Room(left=8 << 20)


def _held(folder: str, main: ModuleType, recording: Recording) -> Flat:
    """What the program holds now: its modules, and what its calls could reach."""
    modules = {**program_modules(folder), "__main__": main}
    walk = Walk(frozenset(modules), Room())
    for name, module in modules.items():
        of_module = "" if name == "__main__" else f" of {name.replace('.', ' ')}"
        for own, value in list(vars(module).items()):
            if is_own(own) and not isinstance(value, ModuleType):
                walk.add(value, f"{own}{of_module}")
    for name, value in recording.held.items():
        if not walk.has(value):
            walk.add(value, name)
    recording.room.sampled += walk.room.sampled
    recording.room.left_out += walk.room.left_out
    return walk.flat
