"""Where a backend's numbers differ from the reference's."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from typing import Any

from repro_runner.output.units import counted, magnitude
from repro_runner.report.contents import RunContents
from repro_runner.report.parts import BREAKS, DOUBT, WORKS, Verdict
from repro_runner.report.parts.device import tensor_text

_PICTURE = re.compile(r"[\w.\-]+\.png", re.ASCII)
_PNG = b"\x89PNG\r\n\x1a\n"
_SHOWN_ROWS = 12
_MEASURES = (
    ("max_absolute_error", "max abs"),
    ("mean_absolute_error", "mean abs"),
    ("max_relative_error", "max rel"),
    ("rmse", "RMSE"),
    ("max_ulp", "ULP"),
    ("cosine_similarity", "cosine"),
)


def numerics_verdict(document: Mapping[str, Any], _contents: RunContents) -> Verdict:
    if document["passed"]:
        varies = document["reference_varies"] or document["test_varies"]
        state = DOUBT if varies or not document["graphs"] else WORKS
        return Verdict(state=state, line=document["verdict"])
    cause = document["cause"]
    return Verdict(state=BREAKS, line=". ".join([document["verdict"], *map(str, cause[:1])]))


def numerics_view(document: Mapping[str, Any], contents: RunContents) -> dict[str, Any]:
    """Rows of the table, those that differ first; pictures as data addresses."""
    leaves = sorted(document["leaves"], key=lambda leaf: bool(leaf["passed"]))
    rows = [_row(leaf) for leaf in leaves]
    about = [f"{document['test']} against {document['reference']}", f"seed {document['seed']}"]
    about += [counted(document["repeats"], "run") + " each"] * (document["repeats"] > 1)
    about += ["gradients compared"] * bool(document["gradients"])
    return {
        "about": ", ".join(about),
        "document": document,
        "measures": [title for _, title in _MEASURES],
        "rows": rows[:_SHOWN_ROWS],
        "more_rows": rows[_SHOWN_ROWS:],
        "varies": _variations(document),
        "pictures": [picture for name in document["pictures"] if (picture := _picture(name, contents))],
    }


def _row(leaf: Mapping[str, Any]) -> dict[str, Any]:
    found = leaf["comparison"]
    return {
        "name": leaf["name"],
        "part": leaf["part"],
        "passed": leaf["passed"],
        "reason": leaf["reason"],
        "tensor": "" if found is None else tensor_text(found["dtype"], found["shape"]),
        "measures": ["–" if found is None else magnitude(found[name]) for name, _ in _MEASURES],
        "mismatched": "–" if found is None else f"{found['mismatch_percentage']:.4g} %",
    }


def _variations(document: Mapping[str, Any]) -> list[str]:
    sides = ((document["reference"], document["reference_varies"]), (document["test"], document["test_varies"]))
    return [f"{side} itself varies from one run to the next: {', '.join(varies)}" for side, varies in sides if varies]


def _picture(name: str, contents: RunContents) -> dict[str, str] | None:
    """The picture as a data address; None if the run has no such picture."""
    path = contents.run.path / "numerics" / str(name)
    if not _PICTURE.fullmatch(str(name)) or path.is_symlink() or not path.is_file():
        return None
    content = path.read_bytes()
    if not content.startswith(_PNG):
        return None
    title = name.removesuffix(".png").replace("_", " ")
    return {"title": title, "address": f"data:image/png;base64,{base64.b64encode(content).decode('ascii')}"}
