"""Captured breaks as a document of a run: breaks.json."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from registry.ids import page_address
from repro_runner.capture.breaks import CapturedBreak


def breaks_document(breaks: Iterable[CapturedBreak]) -> dict[str, Any]:
    """Those that happened, each with the address of its page and the line that broke."""
    return {"kind": "breaks", "schema": 1, "breaks": [_described(one) for one in breaks if one.happened]}


def _described(one: CapturedBreak) -> dict[str, Any]:
    line = f"{one.stack[-1].file}:{one.stack[-1].line}" if one.stack else ""
    return {**asdict(one), "link": page_address(one.gb_id), "source": line}
