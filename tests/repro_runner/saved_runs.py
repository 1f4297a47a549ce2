"""Reports made by hand, and saved as `graphbreak explain --save` does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from registry.answers import Answers
from registry.merge import merge_registry
from repro_runner.capture.breaks import UserFrame
from repro_runner.explain.document import report_document
from repro_runner.explain.report import Frequency, Program, Recompile, Report, Site, Totals
from tests.samples import knowledge

ENVIRONMENT = {"torch": "2.13.0", "python": "3.11", "device": "cpu", "date": "2026-01-05", "platform": "Linux"}
BRANCH = ("GB0170", "Data-dependent branching")
ITEM = ("GB0124", "Unsupported Tensor.item() call with capture_scalar_outputs=False")
LOOP = ("GB7000", "graph break in loop")


def a_site(*named: tuple[str, str], ran: int | None = 3, **fields: Any) -> Site:
    """A site with these ids and types, the cause first."""
    at: dict[str, Any] = {"file": "/home/me/net.py", "line": 12, "function": "forward", "source": "if x.sum() > 0:"}
    at |= {key: fields.pop(key) for key in list(fields) if key in at}
    ids, types = zip(*named, strict=True)
    return Site(
        **at,
        gb_ids=ids,
        gb_types=types,
        frequency=Frequency(ran=ran, why_unknown="" if ran is not None else "in a loop"),
        stack=(UserFrame(**at),),
        **{
            "kind": "resumed",
            "message": "said",
            "context": "",
            "explanation": "",
            "hints": (),
            "compiled": 1,
            **fields,
        },
    )


def a_report(*sites: Site, recompiles: int = 0, **environment: str) -> Report:
    """A program with these sites."""
    again = Recompile(function="forward", file="/home/me/net.py", line=9, guard="g", compile_id="0/1", seconds=0.5)
    return Report(
        environment={**ENVIRONMENT, **environment},
        program=Program(name="/home/me/train.py", arguments=("--fast",), exit_code=0),
        sites=sites,
        recompiles=(again,) * recompiles,
        totals=Totals(graphs=4, ops=20, frames=3, compilations=5, compile_seconds=1.25),
    )


def save(path: Path, report: Report) -> Path:
    """What `graphbreak explain --save` writes."""
    answers = Answers(merge_registry(knowledge({})))
    path.write_text(json.dumps(report_document(report, answers)), "utf-8")
    return path
