"""The result: a program that fails, and whether it was seen to fail on its own."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

from registry.errors import WriteFailed
from repro_runner.minifier.failure import Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class MinifiedProgram:
    """The smallest program found that fails as the model does."""

    script: str
    failure: Failure
    confirmed: bool
    """Whether it was run in a fresh process without this project, and failed in the same way there."""
    output: str
    """What it said there."""
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
            path.write_text(self.script, "utf-8")
            if inputs is not None:
                path.with_suffix(".pt").write_bytes(inputs)
        except OSError as error:
            raise WriteFailed(f"{path}: {error.strerror}; name another file with --out") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What came of looking for a failure."""

    program: MinifiedProgram | None
    """None if nothing fails, or if nothing could be made of what does."""
    tried: Mapping[str, str]
    """For each kind of failure that was looked for, what was found."""
    unknown: tuple[str, ...] = ()
    """The kinds of which nobody knows: something fails, or may fail, and no program could be made of it."""


def minified_document(search: Search) -> dict[str, Any]:
    """The content of minified.json."""
    document = {"kind": "minified", "schema": 1, "tried": dict(search.tried), "unknown": list(search.unknown)}
    program = search.program
    if program is None:
        return {**document, "failure": None}
    inputs = None if not program.tensors else f"minified/{Path(program.file_name).with_suffix('.pt')}"
    return document | {
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
