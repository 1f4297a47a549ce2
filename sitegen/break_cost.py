"""The page about what a break costs: figures of `registry/measurements/`, as curves, tables and sentences."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from itertools import groupby
from typing import Any, NamedTuple

import jinja2

from registry.measured import BreakCost, CostCurve, CostPoint, Machine, ModelRow, ModelSuite, Spread
from registry.model import GraphBreak, Registry
from sitegen.api_links import API
from sitegen.charts import curves_chart
from sitegen.sentences import device_name

VERSION = 1
MEASUREMENTS = f"{API}/measurements.json"

_MEBIBYTE = 1024**2


class Cell(NamedTuple):
    """What stands in a cell, and below it, smaller, where the middle half of the measurements lies."""

    middle: str
    quartiles: str = ""


def render_cost(registry: Registry, environment: jinja2.Environment) -> dict[str, str]:
    """Return {path under docs/: text}."""
    figures = {"$schema": "schema/measurements.json", "version": VERSION, **asdict(registry.measurements)}
    return {
        "cost.md": environment.get_template("cost.md.j2").render(cost_context(registry)),
        MEASUREMENTS: json.dumps(figures, indent=1, ensure_ascii=False) + "\n",
    }


def cost_context(registry: Registry) -> dict[str, Any]:
    """Everything `cost.md.j2` shows."""
    return {
        "machines": (machines := [_machine_section(cost) for cost in registry.measurements.break_costs]),
        "curve": machines[0]["curves"][0]["curve"] if machines else None,
        "suites": [_suite_section(suite, registry) for suite in registry.measurements.suites],
        "costs": break_costs(registry),
    }


def break_costs(registry: Registry) -> list[tuple[str, str]]:
    """(machine, what each break adds there), for each machine whose small block tells it from noise."""
    found = []
    for cost in registry.measurements.break_costs:
        added = cost.curves[0].points[-1].added_s
        if added is not None and added.low > 0:
            found.append((machine_name(cost.machine), duration(added.median)))
    return found


def machine_name(machine: Machine) -> str:
    """`a CPU (aarch64)`, `an NVIDIA H200`."""
    if machine.device == "cpu":
        return f"a CPU ({machine.device_name})"
    name = machine.device_name or device_name(machine.device)
    return f"an {name}" if name.startswith(("NVIDIA", "AMD", "Intel")) else f"a {name}"


def duration(seconds: float) -> str:
    """Three digits at most, in the unit that fits: `1.2 ms`."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if abs(seconds) >= scale:
            return f"{_digits(seconds / scale)} {unit}"
    return f"{_digits(seconds / 1e-6)} µs"


def _digits(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.2g}" if abs(number) < 10 else f"{number:.3g}"


def _machine_section(cost: BreakCost) -> dict[str, Any]:
    return {
        "machine": cost.machine,
        "name": machine_name(cost.machine),
        "anchor": f"{cost.machine.device}-torch-{cost.machine.torch}",
        "curves": [_curve_section(curve, cost.machine) for curve in cost.curves],
    }


def _curve_section(curve: CostCurve, machine: Machine) -> dict[str, Any]:
    title = f"{curve.name.capitalize()} block on {machine_name(machine)}: time of a call by number of breaks"
    return {
        "curve": curve,
        "unit": duration(curve.points[0].seconds.median),
        "chart": curves_chart(
            title,
            {
                "eager": {point.breaks: _triple(point.eager) for point in curve.points},
                "inductor": {point.breaks: _triple(point.compiled) for point in curve.points},
            },
            _counted,
            {"inductor": "compiled"},
        ),
        "sentences": list(_sentences(curve)),
        "rows": [_point_row(point) for point in curve.points],
    }


def _triple(spread: Spread) -> tuple[float, float, float]:
    return spread.median, spread.low, spread.high


def _sentences(curve: CostCurve) -> Iterator[str]:
    """What compiling gains, what the breaks make of that, and what each of them adds."""
    without, last = curve.points[0].of_eager, curve.points[-1]
    gains = without.high < 1
    if gains:
        yield f"Compiled and without a break, a call takes {without.median:.2f} times as long as in eager mode."
    else:
        yield "Compiled and without a break, this block is not faster than in eager mode."
    level = next((point.breaks for point in curve.points if point.of_eager.median >= 1), None) if gains else None
    slower = f"With {_counted(last.breaks)}, it takes {last.compiled.median:.2f} times as long as with none"
    yield f"{slower}: all the gain of compiling is gone." if level == last.breaks else f"{slower}."
    if level is not None and level < last.breaks:
        yield f"From {_counted(level)} on, all the gain of compiling is gone."
    yield _each_break(last)


def _each_break(last: CostPoint) -> str:
    if last.added_s is None or last.added_s.low <= 0:
        return "The cost of a break is too small here to measure."
    each = _cell(last.added_s, duration)
    return f"Each break adds {each.middle}{f' ({each.quartiles})' if each.quartiles else ''}."


def _counted(breaks: int) -> str:
    return "1 break" if breaks == 1 else f"{breaks} breaks"


def _point_row(point: CostPoint) -> dict[str, Any]:
    return {
        "breaks": point.breaks,
        "cells": [
            _cell(point.compiled, _ratio),
            _cell(point.eager, _ratio),
            _cell(point.added_s, duration) if point.added_s else Cell(""),
        ],
    }


def _cell(spread: Spread, shown: Callable[[float], str]) -> Cell:
    """Quartiles that look alike say nothing; a unit that both have is written once."""
    low, high = shown(spread.low), shown(spread.high)
    (number, _, unit), other = low.partition(" "), high.partition(" ")[2]
    return Cell(shown(spread.median), "" if low == high else f"{number if unit == other else low} – {high}")


def _ratio(number: float) -> str:
    return f"{number:.2f}"


def _suite_section(suite: ModelSuite, registry: Registry) -> dict[str, Any]:
    pages = {gb.gb_id: gb for gb in registry}
    return {
        "suite": suite,
        "name": machine_name(suite.machine),
        "clock": next((row.clock for row in suite.rows if row.clock), ""),
        "anchor": f"models-{suite.machine.device}-torch-{suite.machine.torch}",
        "models": [_model_section(list(rows), pages) for _, rows in groupby(suite.rows, key=lambda row: row.model)],
    }


def _model_section(rows: list[ModelRow], pages: Mapping[str, GraphBreak]) -> dict[str, Any]:
    measured = next((row for row in rows if row.latency is not None), None)
    return {
        "title": rows[0].title,
        "size": f"{measured.parameters:,} parameters; {measured.samples} to a batch, each {measured.sample}"
        if measured
        else "",
        "rows": [_model_row(row, pages) for row in rows],
    }


def _model_row(row: ModelRow, pages: Mapping[str, GraphBreak]) -> dict[str, Any]:
    if row.latency is None:
        return {"backend": row.backend, "cause": row.cause}
    return {
        "backend": row.backend,
        "cause": "",
        "cells": [
            _known(row.first_call_s, duration),
            _known(row.first_call_warm_s, duration),
            _cell(row.latency, duration),
            Cell(_digits(row.throughput)),
            _known(row.memory, lambda value: f"{value / _MEBIBYTE:,.0f}"),
            *(_known(count, lambda value: f"{value:,}") for count in (row.graphs, row.breaks, row.violations)),
            _agreement(row),
        ],
        "breaks": [pages[gb_id] for gb_id in row.break_ids if gb_id in pages],
    }


def _agreement(row: ModelRow) -> Cell:
    """Whether it equals eager and, if not, by how much it differs at most."""
    if row.equals_eager or row.equals_eager is None or row.max_absolute_error is None:
        return _known(row.equals_eager, lambda equal: "yes" if equal else "no")
    return Cell("no", f"by up to {row.max_absolute_error:.1g}")


def _known(value: Any, shown: Callable[[Any], str]) -> Cell:
    return Cell("–" if value is None else shown(value))
