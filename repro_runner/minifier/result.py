"""The result: what is wrong with a model, the program that fails in the same way, and whether that was confirmed."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

from registry.datafile import write_whole
from registry.documents import Document, head
from registry.errors import WriteFailed
from repro_runner.runs import RunFolder

KINDS = ("violation", "compile", "numeric", "break")
"""In the order in which they are looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One failure of one graph of a model."""

    kind: str
    summary: str
    """One line: `aten.mm.default float32[4, 3]: takes 48 bytes, more than 16 (memory, forward)`."""
    rule: str = ""
    op: str = ""
    graph: str = ""
    """Of a violation: `forward` or `backward`."""
    gb_id: str = ""
    source: str = ""
    """`file:line` of the user's code, where it is known."""


class NotMinified(Exception):
    """There is a failure, but no program could be made of it; the text is the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MinifiedProgram:
    """The smallest program found that fails as the model does."""

    script: str
    failure: Failure
    confirmed: bool
    """Whether it was run in a fresh process without this project, and failed in the same way there."""
    output: str
    """What it printed there."""
    original_nodes: int
    nodes: int
    unit: str = "operations"
    tensors: Mapping[str, torch.Tensor] = field(default_factory=dict)
    """Inputs whose values matter: they go into a file beside the script."""
    modules: tuple[str, ...] = ()
    """What has to be importable besides torch."""

    @property
    def file_name(self) -> str:
        """A repro is named after its id."""
        return f"{self.failure.gb_id}.py" if self.failure.kind == "break" else "repro.py"

    def inputs_file(self) -> bytes | None:
        """The content of the file beside the script, to be read with `torch.load(weights_only=True)`."""
        if not self.tensors:
            return None
        content = io.BytesIO()
        torch.save(dict(self.tensors), content)
        return content.getvalue()

    def write(self, path: Path) -> None:
        """The script, and beside it its inputs if it needs any; WriteFailed if the disk refuses."""
        inputs = self.inputs_file()
        try:
            write_whole(path, self.script.encode("utf-8"))
            if inputs is not None:
                write_whole(path.with_suffix(".pt"), inputs)
        except OSError as error:
            raise WriteFailed(f"{path}: {error.strerror}; name another file with --out") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """The result of looking for a failure."""

    program: MinifiedProgram | None
    """None if nothing fails, or if no program could be made of the failure."""
    tried: Mapping[str, str]
    """For each kind of failure that was looked for, what was found."""
    unknown: tuple[str, ...] = ()
    """The kinds of failure that are there, or may be there, without a program for them."""


class MinifiedDocument(Document, total=False):
    """minified.json. Where nothing was minified, `failure` is null, and the fields after it are missing."""

    tried: dict[str, str]
    unknown: list[str]
    failure: dict[str, Any] | None
    script: str
    inputs: str | None
    confirmed: bool
    output: str
    original_nodes: int
    nodes: int
    unit: str
    modules: list[str]


def minified_document(search: Search) -> MinifiedDocument:
    """The content of minified.json."""
    begun: MinifiedDocument = {
        **head("minified"),  # type: ignore[typeddict-item] # it has none of the other fields
        "tried": dict(search.tried),
        "unknown": list(search.unknown),
        "failure": None,
    }
    program = search.program
    if program is None:
        return begun
    inputs = None if not program.tensors else f"minified/{Path(program.file_name).with_suffix('.pt')}"
    return {
        **begun,
        "failure": asdict(program.failure),
        "script": f"minified/{program.file_name}",
        "inputs": inputs,
        "confirmed": program.confirmed,
        "output": program.output,
        "original_nodes": program.original_nodes,
        "nodes": program.nodes,
        "unit": program.unit,
        "modules": list(program.modules),
    }


def write_search(run: RunFolder, search: Search) -> None:
    """minified.json of a run, and the program with its inputs if there is one."""
    if (program := search.program) is not None:
        path = run.write_text(f"minified/{program.file_name}", program.script)
        if (inputs := program.inputs_file()) is not None:
            run.write_bytes(f"minified/{path.with_suffix('.pt').name}", inputs)
    run.write_json("minified.json", minified_document(search))
