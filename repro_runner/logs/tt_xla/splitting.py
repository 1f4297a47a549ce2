"""Who split the graph: Dynamo, torch_xla or export. Only what the log shows counts; the rest is not told."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from repro_runner.capture.breaks import RESUME_PREFIX

OWN = "own"
"""Nobody split it off: Dynamo began a frame of its own for it."""
NOT_TOLD = "not told"

_FRAME = b"torchdynamo start tracing"
_RESUMED_FRAME = _FRAME + b" " + RESUME_PREFIX.encode()
_HANDED = b"Step 2: calling compiler function"
_LEFT_TO_PYTHON = (b"falling back to eager", b"WON'T CONVERT")
_XLA_CAUSE = re.compile(rb"Compilation Analysis: Compilation Cause[^\n]*\n[^\n]*Compilation Analysis: +([^\n]*)")
_XLA_SIGNS = (b"pt-xla-profiler: Op(s) not lowered", b"Found an argument on non-XLA device")
_EXPORT_SIGNS = (b"torch.export", b"torch/export/", b"torch._export", b"ExportedProgram")
_LONGEST = 200
"""Characters kept of a line that is evidence."""


@dataclass(slots=True)
class Since:
    """What the log shows between the beginnings of two graphs."""

    frames: int = 0
    resumed: int = 0
    handed: int = 0
    left_to_python: int = 0
    xla: str = ""
    """torch_xla's own words for why it compiled, the first."""
    export: str = ""

    def look_at(self, text: bytes) -> None:
        """Take in lines that stand outside of modules."""
        if b"_dynamo" in text:
            self.frames += text.count(_FRAME)
            self.resumed += text.count(_RESUMED_FRAME)
            self.handed += text.count(_HANDED)
            self.left_to_python += sum(text.count(words) for words in _LEFT_TO_PYTHON)
        if not self.xla:
            self.xla = _find_xla_cause(text)
        if not self.export:
            self.export = _find_line(text, _EXPORT_SIGNS)


def _find_xla_cause(text: bytes) -> str:
    """Why torch_xla cut the graph; that Dynamo handed it one is no cut."""
    for cause in _XLA_CAUSE.finditer(text):
        if b"dynamo" not in cause[1]:
            return cause[1].decode("utf-8", "replace").strip()[:_LONGEST]
    return _find_line(text, _XLA_SIGNS)


def _find_line(text: bytes, signs: Iterable[bytes]) -> str:
    """The rest of the first line that has one of the signs, from the sign on."""
    for sign in signs:
        at = text.find(sign)
        if at >= 0:
            return text[at : at + _LONGEST].split(b"\n")[0].decode("utf-8", "replace").strip()
    return ""


def find_splitter(since: Since, *, resumed: bool, first: bool, with_dynamo: bool) -> str:
    """Dynamo, torch_xla or export; `own` for a graph that nobody split off, `not told` where the log is silent."""
    if first:
        return OWN
    if resumed or since.resumed or since.left_to_python:
        return "Dynamo"
    if since.xla:
        return "torch_xla"
    if since.frames:
        return OWN
    if since.export:
        return "export"
    # with +dynamo every frame is in the log: a graph without one is a further piece of what Dynamo handed over as one
    return "torch_xla" if with_dynamo and not since.handed else NOT_TOLD
