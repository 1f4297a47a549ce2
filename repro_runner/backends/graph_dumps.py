"""What a mock backend leaves behind: each graph it was given, and what the device would refuse of it.

A plain `torch.compile(model, backend=mock_backend)` makes one run folder per process, at the first compilation; a
forked child makes its own. `keep_artifacts` chooses another folder, or none. A user's program never fails for this:
whatever goes wrong here is one warning, and then nothing more is kept in that process.
"""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import torch
from torch.fx import GraphModule

from registry.documents import Document, head
from repro_runner.constraints import Violation, violation_record, violations_document
from repro_runner.constraints.checking import ViolationRecord
from repro_runner.environment import describe_environment
from repro_runner.graphs.drawing import draw_graph
from repro_runner.graphs.statistics import GraphDescription, describe_graph, parameters_bytes
from repro_runner.graphs.traced import TracedGraph
from repro_runner.runs import RunFolder
from repro_runner.torch_seams import CompileContext

_VIOLATIONS = "violations.json"
_chosen: ContextVar[RunFolder | Literal["own"] | None] = ContextVar("chosen", default="own")
# By process: a forked child finds its parent's here, and must not write into that.
_own_runs: dict[int, RunFolder] = {}
_gave_up: set[int] = set()


class ArtifactsWarning(UserWarning):
    """The graphs of this process could not be kept; the program itself goes on."""


@contextlib.contextmanager
def keep_artifacts(run: RunFolder | None) -> Iterator[None]:
    """Inside the block, mock backends of this thread keep their graphs in this run; with None, nowhere."""
    token = _chosen.set(run)
    try:
        yield
    finally:
        _chosen.reset(token)


class GraphDocument(Document):
    """The content of graph.json."""

    index: int
    backend: str
    compile_id: str | None
    parameters_bytes: int
    graphs: dict[str, GraphDescription]
    violations: list[ViolationRecord]


class LoweredGraphDocument(GraphDocument):
    """The same, once a compiler has lowered some of it."""

    inductor: dict[str, list[str]]
    """What Inductor made of the forward and the backward: the names of the files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptGraph:
    """The folder of one compiled graph: `graphs/0000` of a run."""

    run: RunFolder
    folder: str
    traced: TracedGraph
    document: GraphDocument
    lowered: dict[str, list[str]] = field(default_factory=dict)

    def keep_violations(self, found: Sequence[Violation]) -> None:
        """Add what was found after the graph was kept, and draw the graphs that it was found in again."""
        with harmless():
            self.document["violations"] += map(violation_record, found)
            self._write_document()
            for name in {each.graph.replace("-", "_") for each in found}:
                self._draw(name, found)
            _add_to_violations(self.run, found)

    def keep_lowered(self, name: str, files: Mapping[str, str]) -> None:
        """Write the files that a compiler made of the forward or the backward."""
        with harmless():
            for file, text in files.items():
                self.run.write_text(f"{self.folder}/inductor/{name}/{file}", text)
            self.lowered[name] = list(files)
            self._write_document()

    def keep_script(self, text: str) -> Path:
        """Write a script that fails as the graph does, and return its path. WriteFailed if the disk refuses."""
        self.run.write_text(f"{self.folder}/repro.py", text)
        return (self.run.path / self.folder / "repro.py").absolute()

    def write(self, found: Sequence[Violation]) -> None:
        """Write the graphs as text and picture, and the document."""
        for name in self.document["graphs"]:
            text = self._graph(name).print_readable(print_output=False, include_stride=True, include_device=True)
            self.run.write_text(f"{self.folder}/{name}.txt", text)
            self._draw(name, found)
        self._write_document()

    def _draw(self, name: str, found: Sequence[Violation]) -> None:
        here = [each for each in found if each.graph == name.replace("_", "-")]
        picture = draw_graph(self._graph(name), f"graph {self.document['index']}, {name}", here)
        self.run.write_text(f"{self.folder}/{name}.svg", picture)

    def _graph(self, name: str) -> GraphModule:
        graph: GraphModule = getattr(self.traced, name)
        return graph

    def _write_document(self) -> None:
        document: GraphDocument | LoweredGraphDocument = self.document
        if self.lowered:
            document = {**self.document, "inductor": self.lowered}
        self.run.write_json(f"{self.folder}/graph.json", document)


def keep_graph(traced: TracedGraph, found: Sequence[Violation], *, backend: str, asked: bool) -> KeptGraph | None:
    """Write a graph into the chosen run or, if none is chosen and `asked`, into the process's own; None if not kept."""
    chosen = _chosen.get()
    if chosen is None or (chosen == "own" and not asked) or os.getpid() in _gave_up:
        return None
    with harmless():
        run = _own_run(backend) if chosen == "own" else chosen
        kept = _write_graph(run, traced, found, backend)
        _add_to_violations(run, found)
        return kept
    return None


@contextlib.contextmanager
def harmless() -> Iterator[None]:
    """Turn any error inside the block into one warning per process; nothing is kept after that."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - the disk, and a drawing of whatever a user's graph may hold
        if os.getpid() not in _gave_up:
            _gave_up.add(os.getpid())
            reason = " ".join(str(error).split()) or type(error).__name__
            warnings.warn(
                f"no more graphs are kept, and the program goes on ({reason}); GRAPHBREAK_ARTIFACTS=0 keeps none",
                ArtifactsWarning,
                stacklevel=2,
            )


def _add_to_violations(run: RunFolder, found: Sequence[Violation]) -> None:
    """Add them to the run's document of the violations of all graphs."""
    known = run.read_json(_VIOLATIONS)["violations"] if run.has(_VIOLATIONS) else []
    run.write_json(_VIOLATIONS, violations_document([*known, *map(violation_record, found)]))


def _own_run(backend: str) -> RunFolder:
    if os.getpid() not in _own_runs:
        _own_runs[os.getpid()] = RunFolder.create(
            "compile", subject=program_name(), environment=_environment(), backend=backend
        )
    return _own_runs[os.getpid()]


def program_name() -> str:
    """The name of the script that this process runs."""
    return Path(sys.argv[0] if sys.argv else "").name or "python"


def _environment() -> dict[str, str]:
    """Names the GPU only if this process uses it already: to initialise CUDA here could harm the program."""
    environment = describe_environment("cpu")
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        environment |= {"device": "cuda", "device_name": torch.cuda.get_device_name()}
    return environment


def _write_graph(run: RunFolder, traced: TracedGraph, found: Sequence[Violation], backend: str) -> KeptGraph:
    index = _new_folder(run)
    graphs = {"pre_aot": traced.pre_aot, "forward": traced.forward, "backward": traced.backward}
    compile_id = CompileContext.current_compile_id()
    document: GraphDocument = {
        **head("graph"),
        "index": index,
        "backend": backend,
        "compile_id": None if compile_id is None else str(compile_id),
        "parameters_bytes": parameters_bytes(traced.pre_aot),
        "graphs": {
            name: describe_graph(graph, lowered=name != "pre_aot")
            for name, graph in graphs.items()
            if graph is not None
        },
        "violations": [violation_record(each) for each in found],
    }
    kept = KeptGraph(run=run, folder=f"graphs/{index:04d}", traced=traced, document=document)
    kept.write(found)
    return kept


def _new_folder(run: RunFolder) -> int:
    """Make a folder with the first free number. Other threads and processes may write into the same run."""
    graphs = run.path / "graphs"
    graphs.mkdir(exist_ok=True)
    index = len(list(graphs.iterdir()))
    while True:
        try:
            (graphs / f"{index:04d}").mkdir()
        except FileExistsError:
            index += 1
        else:
            return index
