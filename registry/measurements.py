"""Read `registry/measurements/`: `break-cost-<torch>-<device>.json` and `models-<torch>-<device>.json`."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from registry.datafile import read_data_file, shown
from registry.documents import check_data_file
from registry.errors import InvalidInput, Problem
from registry.measured import BreakCost, CostCurve, CostPoint, Machine, Measurements, ModelRow, ModelSuite, Spread
from registry.versions import version_key

SCHEMA = 1
_AGAIN = "measure it again with `graphbreak bench`"

_Parsed = TypeVar("_Parsed")
_Placed = TypeVar("_Placed", BreakCost, ModelSuite)


def read_measurements(folder: Path) -> Measurements:
    """Read every file; all problems at once as InvalidInput. No folder: nothing was measured."""
    costs: list[BreakCost] = []
    suites: list[ModelSuite] = []
    problems: list[Problem] = []
    for path in sorted(folder.glob("*.json")):
        try:
            parsed = _parse_file(path)
        except InvalidInput as error:
            problems += error.problems
            continue
        if isinstance(parsed, BreakCost):
            costs.append(parsed)
        else:
            suites.append(parsed)
    if problems:
        raise InvalidInput(problems)
    return Measurements(break_costs=_in_order(costs), suites=_in_order(suites))


def _in_order(found: Iterable[_Placed]) -> tuple[_Placed, ...]:
    def place(one: _Placed) -> tuple[object, ...]:
        return tuple(-part for part in version_key(one.machine.torch)), one.machine.device

    return tuple(sorted(found, key=place))


def _parse_file(path: Path) -> BreakCost | ModelSuite:
    where = f"{shown(path)}:1"
    try:
        content = json.loads(read_data_file(path))
        check_data_file(content, dict.fromkeys(_PARSERS, SCHEMA), where=where, remedy="move this file elsewhere")
    except ValueError as error:
        raise InvalidInput([Problem(where, f"not JSON ({error}); {_AGAIN}")]) from error
    except (KeyError, TypeError) as error:
        raise InvalidInput([Problem(where, f"no measurement in this file ({error!r}); {_AGAIN}")]) from error
    fields = _Fields(content, where, "", [])
    what, parse = _PARSERS[content["kind"]]
    parsed = parse(fields)
    name = f"{what}-{parsed.machine.torch}-{parsed.machine.device}.json"
    if not fields.problems and path.name != name:
        fields.problems.append(Problem(where, f"was measured elsewhere than its name says; rename it to {name}"))
    if fields.problems:
        raise InvalidInput(fields.problems)
    return parsed


class _Fields:
    """A JSON object, read field by field. What is wrong is noted with its path, and read as nothing, so that one look
    at a file finds everything that is wrong with it."""

    def __init__(self, content: Any, where: str, path: str, problems: list[Problem]) -> None:
        self._where, self._path, self.problems = where, path, problems
        self._content: Mapping[str, Any] = content if isinstance(content, dict) else {}
        if not isinstance(content, dict):
            self.wrong("", "must be an object")

    def wrong(self, name: str, told: str) -> None:
        path = f"{self._path}.{name}".strip(".")
        self.problems.append(Problem(self._where, f"{path}: {told}; {_AGAIN}" if path else f"{told}; {_AGAIN}"))

    def has(self, name: str) -> bool:
        return self._content.get(name) is not None

    def text(self, name: str) -> str:
        found = self._content.get(name)
        if not isinstance(found, str):
            self.wrong(name, "must be a text")
            return ""
        return found

    def number(self, name: str, least: float = 0.0) -> float:
        found = self._content.get(name)
        if isinstance(found, bool) or not isinstance(found, int | float) or not least <= found < math.inf:
            self.wrong(name, "must be a number" if least == -math.inf else f"must be a number, at least {least:g}")
            return 0.0
        return float(found)

    def count(self, name: str, least: int = 0) -> int:
        found = self.number(name, least)
        if found != int(found):
            self.wrong(name, "must be a whole number")
        return int(found)

    def truth(self, name: str) -> bool:
        if not isinstance(self._content.get(name), bool):
            self.wrong(name, "must be true or false")
        return bool(self._content.get(name))

    def optional(self, name: str, read: Callable[[str], _Parsed]) -> _Parsed | None:
        return read(name) if self.has(name) else None

    def is_text(self, name: str) -> bool:
        return isinstance(self._content.get(name), str)

    def part(self, name: str) -> _Fields:
        return _Fields(self._content.get(name), self._where, f"{self._path}.{name}".strip("."), self.problems)

    def parts(self, name: str) -> list[_Fields]:
        found = self._content.get(name)
        if not isinstance(found, list) or not found:
            self.wrong(name, "must be a list, and not empty")
            return []
        path = f"{self._path}.{name}".strip(".")
        return [_Fields(each, self._where, f"{path}[{at}]", self.problems) for at, each in enumerate(found)]

    def texts(self, name: str) -> tuple[str, ...]:
        found = self._content.get(name)
        if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
            self.wrong(name, "must be a list of texts")
            return ()
        return tuple(found)

    def spread(self, name: str, least: float = 0.0) -> Spread:
        part = self.part(name)
        found = Spread(**{each: part.number(each, least) for each in ("median", "low", "high")})
        if not found.low <= found.median <= found.high:
            self.wrong(name, "the median must lie between low and high")
        return found


def _machine(fields: _Fields) -> Machine:
    return Machine(
        torch=fields.text("torch"),
        python=fields.text("python"),
        device=fields.text("device"),
        device_name=fields.text("device_name"),
        cores=fields.count("cores", 1),
        date=fields.text("date"),
    )


def _break_cost(fields: _Fields) -> BreakCost:
    return BreakCost(
        machine=_machine(fields.part("environment")), curves=tuple(_curve(each) for each in fields.parts("curves"))
    )


def _curve(fields: _Fields) -> CostCurve:
    block = fields.part("block")
    points = tuple(_point(each) for each in fields.parts("points"))
    if [point.breaks for point in points] != sorted({0, *(point.breaks for point in points)}):
        fields.wrong("points", "must have more and more breaks, from 0")
    return CostCurve(
        name=block.text("name"),
        layers=block.count("layers", 1),
        rows=block.count("rows", 1),
        width=block.count("width", 1),
        dtype=block.text("dtype"),
        threads=fields.count("threads", 1),
        clock=fields.text("clock"),
        rounds=fields.count("rounds", 1),
        points=points,
    )


def _point(fields: _Fields) -> CostPoint:
    eager, compiled = fields.part("eager"), fields.part("inductor")
    breaks, graphs = fields.count("breaks"), fields.count("graphs", 1)
    if graphs != breaks + 1:
        fields.wrong("graphs", f"so many breaks make {breaks + 1} graphs, not {graphs}")
    return CostPoint(
        breaks=breaks,
        graphs=graphs,
        eager=eager.spread("relative"),
        compiled=compiled.spread("relative"),
        of_eager=fields.spread("of_eager"),
        seconds=compiled.spread("seconds"),
        # Noise can make a call with a break the faster one.
        added_s=fields.optional("added_per_break_s", lambda name: fields.spread(name, -math.inf)),
    )


def _suite(fields: _Fields) -> ModelSuite:
    environment = fields.part("environment")
    return ModelSuite(
        machine=_machine(environment),
        memory_is=fields.text("memory_is"),
        alignment=environment.part("limits").text("alignment"),
        rows=tuple(_row(each) for each in fields.parts("rows")),
    )


def _row(fields: _Fields) -> ModelRow:
    row = ModelRow(
        model=fields.text("model"),
        title=fields.text("title"),
        sample=fields.text("sample"),
        backend=fields.text("backend"),
    )
    if fields.text("size") != "full":
        fields.wrong("size", "only whole models are compared here")
    if fields.text("status") == "failed":
        return replace(row, cause=fields.text("cause"))
    first_call = fields.part("compile_s")
    return replace(
        row,
        parameters=fields.count("parameters", 1),
        samples=fields.count("samples", 1),
        threads=fields.count("threads", 1),
        clock=fields.text("clock"),
        first_call_s=first_call.optional("cold", first_call.number),
        first_call_warm_s=first_call.optional("warm", first_call.number),
        latency=fields.spread("latency"),
        throughput=fields.number("throughput"),
        memory=fields.optional("memory", fields.count),
        graphs=fields.optional("graphs", fields.count),
        breaks=fields.optional("breaks", fields.count),
        break_ids=fields.texts("break_ids"),
        violations=fields.optional("violations", fields.count),
        equals_eager=fields.optional("numerics", lambda name: fields.part(name).truth("passed")),
        max_absolute_error=fields.optional("numerics", lambda name: _finite(fields.part(name), "max_absolute_error")),
    )


def _finite(fields: _Fields, name: str) -> float | None:
    """A number; None for one that JSON can't write, which stands there as a word."""
    return fields.number(name) if fields.has(name) and not fields.is_text(name) else None


_PARSERS: Mapping[str, tuple[str, Callable[[_Fields], BreakCost | ModelSuite]]] = {
    "break_cost": ("break-cost", _break_cost),
    "bench": ("models", _suite),
}
"""By kind: how the file's name begins, and what reads it."""
