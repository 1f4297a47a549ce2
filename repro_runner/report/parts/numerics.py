"""Where a backend's numbers differ from the reference's."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from repro_runner.output.places import with_shown_places
from repro_runner.output.units import counted, magnitude
from repro_runner.report.contents import PNG, Attachments, RunContents
from repro_runner.report.parts import BREAKS, DOUBT, WORKS, Verdict, fold, likeness
from repro_runner.report.parts.device import tensor_text

_PICTURE = re.compile(r"[\w.\-]+\.png", re.ASCII)
_OVERVIEW = "summary.png"
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
    leaves = document["leaves"]
    measured = [leaf for leaf in leaves if leaf["comparison"] is not None]
    worst = max(measured, key=_error)["comparison"]["max_absolute_error"] if measured else None
    figures = {
        "worst error": worst,
        "values that differ": sum(not leaf["passed"] for leaf in leaves),
        "values": len(leaves),
    }
    if document["passed"]:
        varies = document["reference_varies"] or document["test_varies"]
        state = DOUBT if varies or not document["graphs"] else WORKS
        return Verdict(state=state, line=document["verdict"], figures=figures)
    cause = document["cause"]
    return Verdict(state=BREAKS, line=". ".join([document["verdict"], *map(str, cause[:1])]), figures=figures)


def numerics_view(document: Mapping[str, Any], contents: RunContents) -> dict[str, Any]:
    """Rows of the table: what differs comes first, and the larger error. Pictures in the same order."""
    leaves = sorted(document["leaves"], key=lambda leaf: (bool(leaf["passed"]), -_error(leaf)))
    folded = fold(leaves, lambda leaf: (likeness(leaf["name"]), leaf["passed"], likeness(leaf["reason"])))[:_SHOWN_ROWS]
    shown = {id(leaf) for leaf, _ in folded}
    about = [f"{document['test']} against {document['reference']}", f"seed {document['seed']}"]
    about += [counted(document["repeats"], "run") + " each"] * (document["repeats"] > 1)
    about += ["gradients compared"] * bool(document["gradients"])
    return {
        "about": ", ".join(about),
        "document": document,
        "cause": [with_shown_places(str(sentence), contents.folder) for sentence in document["cause"]],
        "measures": [title for _, title in _MEASURES],
        "rows": [_row(leaf, len(more)) for leaf, more in folded],
        "more_rows": [_row(leaf) for leaf in leaves if id(leaf) not in shown],
        "varies": _variations(document),
        "pictures": read_pictures(document, Attachments(contents.run)),
    }


def _error(leaf: Mapping[str, Any]) -> float:
    """The largest absolute error. What has none, or NaN, is infinitely wrong, unless it passed."""
    found = leaf["comparison"]
    error = math.nan if found is None else float(found["max_absolute_error"])
    return error if error == error else 0.0 if leaf["passed"] else math.inf


def _row(leaf: Mapping[str, Any], more: int = 0) -> dict[str, Any]:
    found = leaf["comparison"]
    return {
        "name": leaf["name"],
        "part": leaf["part"],
        "passed": leaf["passed"],
        "reason": leaf["reason"],
        "more": more,
        "tensor": "" if found is None else tensor_text(found["dtype"], found["shape"]),
        "measures": ["–" if found is None else magnitude(found[name]) for name, _ in _MEASURES],
        "mismatched": "–" if found is None else f"{found['mismatch_percentage']:.4g} %",
    }


def _variations(document: Mapping[str, Any]) -> list[str]:
    sides = ((document["reference"], document["reference_varies"]), (document["test"], document["test_varies"]))
    return [f"{side} itself varies from one run to the next: {', '.join(varies)}" for side, varies in sides if varies]


def read_pictures(document: Mapping[str, Any], files: Attachments) -> list[dict[str, Any]]:
    """The pictures of a run: the overview, then the values, the largest error first. Others of its files are none."""
    errors = {_stem(leaf["name"]): _error(leaf) for leaf in document["leaves"]}
    names = [str(name) for name in document["pictures"] if _PICTURE.fullmatch(str(name))]
    by_error = [(errors.get(name.removesuffix(".png"), max(errors.values(), default=0.0)), name) for name in names]
    found = []
    for error, name in sorted(by_error, key=lambda item: (item[1] != _OVERVIEW, -item[0])):
        file = files.read(f"numerics/{name}")
        if file is not None and (file.content is None or file.content.startswith(PNG)):
            found.append({"title": name.removesuffix(".png").replace("_", " "), "error": error, "file": file})
    return found


def _stem(name: str) -> str:
    """How `draw_pictures` names the file of a value."""
    return re.sub(r"[^\w.]+", "-", name, flags=re.ASCII).strip("-.")[:80]
