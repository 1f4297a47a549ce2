"""In the child: call a function with planned inputs, and record all that it does."""

from __future__ import annotations

import ast
import contextlib
import linecache
import os
import re
import signal
import traceback
import types
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from repro_runner.judge import FILES, GRADIENTS, INPUTS, MEMORY, MODES, RANDOM, RESULT, STATE
from repro_runner.judge.gradients import NoInput, gradients_of, set_seed
from repro_runner.judge.inputs import vary
from repro_runner.judge.leaves import Flat, Leaf, Room, leaf_of
from repro_runner.judge.observation import Call, Plan
from repro_runner.judge.state import Walk, is_own, shared_memory
from repro_runner.judge.surroundings import files_below, modes, random_states, watched

THE_FUNCTION = "the function"
NO_INPUT = "no input"
"""The class of the error of a call without anything that has a gradient."""


@contextlib.contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Raise TimeoutError inside the block after so many seconds; 0 is no limit."""

    def stop(_number: int, _frame: object) -> None:
        raise TimeoutError(f"it took longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _numbers_of(leaf: Leaf) -> Leaf:
    """A text without what torch adds to a tensor that has a gradient: printed detached, it has the same numbers."""
    return re.sub(r", (?:grad_fn=<\w+>|requires_grad=True)", "", leaf) if isinstance(leaf, str) else leaf


class Calls:
    """Calls of the functions of one loaded program."""

    def __init__(
        self,
        module: types.ModuleType,
        function: Callable[..., Any],
        draw: Callable[[int], tuple[Any, ...]],
        *,
        functions: frozenset[str] = frozenset(),
        device: str = "cpu",
        files: bool = True,
        room: Room | None = None,
    ) -> None:
        """`draw` gives the inputs of a seed; `functions` are the names of the module that are no state: its cards.

        With `files`, all that is below the folder of the module is compared.
        """
        self._module, self._function, self._draw = module, function, draw
        self._functions, self._device = functions, device
        self.seconds = 0.0
        """How long a call with other inputs than the program's own may take: it may never end. 0 is no limit."""
        self._file, self._with_files = Path(module.__file__ or ""), files
        self._room = room or Room()

    def state(self) -> Flat:
        """What the program holds now."""
        return self._walk().flat

    @property
    def left_out(self) -> int:
        """How many values were not looked at."""
        return self._room.left_out

    def make(self, function: Callable[..., Any], plans: Sequence[Plan]) -> Iterator[Call]:
        """Make the calls, in order."""
        return (self._make(function, plan) for plan in plans)

    def _walk(self) -> Walk:
        walk = Walk(frozenset({self._module.__name__}), self._room)
        for name, value in list(vars(self._module).items()):
            if is_own(name) and name not in self._functions and not isinstance(value, types.ModuleType):
                walk.add(value, name)
        walk.add(self._function, THE_FUNCTION)
        return walk

    def _make(self, function: Callable[..., Any], plan: Plan) -> Call:
        try:
            given = self._draw(plan.seed)
            given = vary(given, plan.variation) if plan.variation else given
        except Exception as error:  # noqa: BLE001 - a program's inputs may not be changed so
            return Call(plan=plan, error=(NO_INPUT, f"{type(error).__name__}: {error}"))
        if plan.gradients:
            return self._gradients(function, plan, given)
        before = self._flat_inputs(given)
        set_seed(1000 + plan.seed)
        value, raised = None, None
        with watched() as effects:
            try:
                with _limited(self.seconds if plan.variation else 0.0):
                    value = function(*given)
                if self._device == "cuda":
                    torch.cuda.synchronize()
            except Exception as error:  # noqa: BLE001 - whatever a program raises is its outcome
                raised = error
        folder = os.path.relpath(os.curdir, self._file.parent)
        surroundings = {RANDOM: random_states(), MODES: {**modes(), "current folder": folder}}
        walk = self._walk()
        with torch.no_grad():
            held = set(walk.flat)
            walk.add(given, "inputs")
            inputs = {path: leaf for path, leaf in walk.flat.items() if path not in held}
            seen = {STATE: {path: walk.flat[path] for path in held}, INPUTS: inputs, **surroundings, **effects.flat()}
            if raised is None:
                walk.add(value, "result")
                seen[RESULT] = {path: walk.flat[path] for path in walk.flat if path not in held and path not in inputs}
            seen[MEMORY] = dict.fromkeys(shared_memory(walk.memory), True)
        if self._with_files:
            seen[FILES] = files_below(self._file.parent, self._is_ours)
        return Call(
            plan=plan,
            given=before,
            seen=seen,
            error=(type(raised).__name__, str(raised)) if raised else ("", ""),
            deliberate=self._is_deliberate(raised),
        )

    def _flat_inputs(self, given: tuple[Any, ...]) -> Flat:
        walk = Walk(frozenset({self._module.__name__}), self._room)
        walk.add(given, "inputs")
        return walk.flat

    def _is_ours(self, path: Path) -> bool:
        return path == self._file or "__pycache__" in path.parts

    def _gradients(self, function: Callable[..., Any], plan: Plan, given: tuple[Any, ...]) -> Call:
        leaf = plan.gradients == "leaves"
        try:
            with watched() as effects, _limited(self.seconds if plan.variation else 0.0):  # of hooks, too
                found, rounding = gradients_of(self._module, function, given, leaf=leaf, seed=1000 + plan.seed)
        except NoInput:
            return Call(plan=plan, error=(NO_INPUT, "nothing that it takes has a gradient"))
        except Exception as error:  # noqa: BLE001 - whatever a program raises
            return Call(plan=plan, error=(type(error).__name__, str(error)))
        flat = {place: one if one is None else leaf_of(one, self._room) for place, one in found.items()}
        seen = {GRADIENTS: flat, STATE: self._walk().flat}
        for aspect, texts in effects.flat().items():
            seen[aspect] = {path: _numbers_of(leaf) for path, leaf in texts.items()}
        return Call(plan=plan, seen=seen, rounding=rounding)

    def _is_deliberate(self, error: BaseException | None) -> bool:
        """Whether a `raise` or an `assert` of the program is where it comes from."""
        frames = traceback.extract_tb(error.__traceback__ if error else None)
        own = [frame for frame in frames if Path(frame.filename) == self._file]
        if not own or own[-1] is not frames[-1] or own[-1].lineno is None:
            return False
        text = "".join(linecache.getlines(str(self._file)))  # a changed text lies there, and the file is as it was
        statements = ast.walk(ast.parse(text))
        lines = {node.lineno for node in statements if isinstance(node, ast.Raise | ast.Assert)}
        return own[-1].lineno in lines
