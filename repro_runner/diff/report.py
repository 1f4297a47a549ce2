"""What a comparison of two backends found: as text for a terminal, and as numerics.json of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from registry.documents import Document, head
from repro_runner.diff.comparison import LeafComparison
from repro_runner.diff.config import plain_number
from repro_runner.diff.difference import FirstDifference
from repro_runner.diff.tensors import TensorComparison
from repro_runner.output.places import with_shown_places
from repro_runner.output.terminal import plain, table
from repro_runner.output.units import counted
from repro_runner.runs import RunFolder

_SHOWN = 30
"""Rows of the table; gradients of a large model have hundreds."""
_COLUMNS = ("", "tensor", "max abs", "max rel", "rmse", "ulp", "mismatched", "")


class NumericsDocument(Document):
    """numerics.json of a run."""

    model: str
    reference: str
    test: str
    seed: int
    repeats: int
    gradients: bool
    passed: bool
    failure: str
    graphs: int
    verdict: str
    leaves: list[dict[str, Any]]
    reference_varies: dict[str, float | str | None]
    test_varies: dict[str, float | str | None]
    first_difference: dict[str, Any] | None
    cause: list[str]
    pictures: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffReport:
    """A model under two backends."""

    model: str
    reference: str
    test: str
    seed: int
    repeats: int
    gradients: bool
    leaves: tuple[LeafComparison, ...] = ()
    """Each leaf from the repeat in which its error is largest."""
    reference_varies: Mapping[str, float] = field(default_factory=dict)
    """What differs between two executions of the reference itself: by name, by how much."""
    test_varies: Mapping[str, float] = field(default_factory=dict)
    failure: str = ""
    """Why the backend under test could not run the model at all, in one line."""
    traceback: str = ""
    """Of that error."""
    graphs: int = 0
    """How many graphs it was given."""
    first_difference: FirstDifference | None = None
    """None if nothing differs, or it was not looked for."""
    pictures: Mapping[str, bytes] = field(default_factory=dict)
    """PNG by file name; `summary.png`, and one per tensor that differs."""
    run: RunFolder | None = None
    """Where it is kept; None if it is not."""

    @property
    def passed(self) -> bool:
        return not self.failure and all(leaf.passed for leaf in self.leaves)

    @property
    def failed_leaves(self) -> list[LeafComparison]:
        return [leaf for leaf in self.leaves if not leaf.passed]

    @property
    def max_absolute_error(self) -> float | None:
        """The largest of all leaves; infinite where one side alone is NaN. None if nothing was compared."""
        return max((each.max_absolute_error for each in self._comparisons()), default=None)

    @property
    def max_relative_error(self) -> float | None:
        return max((each.max_relative_error for each in self._comparisons()), default=None)

    def _comparisons(self) -> list[TensorComparison]:
        return [leaf.comparison for leaf in self.leaves if leaf.comparison is not None and not leaf.only_nan]

    def verdict(self) -> str:
        """One sentence."""
        if self.failure:
            return f"{self.test} could not run it: {self.failure}"
        if failed := self.failed_leaves:
            return f"{self.test} differs from {self.reference} in {len(failed)} of {counted(len(self.leaves), 'value')}"
        never = "" if self.graphs or self.test == "eager" else f"; but {self.test} was never given a graph to compile"
        rounded = [leaf.name for leaf in self.leaves if leaf.comparison is not None and leaf.comparison.rounding]
        never += f"; {', '.join(rounded)}: beyond the tolerance, but rounding, as a run in float64 shows" * bool(
            rounded
        )
        nan = [leaf.name for leaf in self.leaves if leaf.only_nan]
        if len(nan) == len(self.leaves):
            return f"nothing was compared: {', '.join(nan)}: NaN throughout, under both backends{never}"
        but = f"; but {', '.join(nan)}: NaN throughout, under both backends" if nan else ""
        return f"{self.test} equals {self.reference} in {counted(len(self.leaves) - len(nan), 'value')}{but}{never}"

    def summary(self) -> str:
        """For a terminal: the table, the verdict, and what is known of the cause."""
        lines = [f"{self.model}: {self.test} against {self.reference}"]
        if self.leaves:
            lines += ["", *table([_COLUMNS, *map(_row, self._shown_leaves())], right=range(2, 8))]
            if (hidden := len(self.leaves) - _SHOWN) > 0:
                lines.append(f"… and {hidden} more")
            lines += [f"{leaf.name}: {leaf.reason}" for leaf in self.failed_leaves[:_SHOWN]]
        lines += ["", self.verdict(), *self._variations()]
        if self.first_difference is not None:
            lines += map(with_shown_places, describe_first_difference(self.first_difference, self.graphs))
        return "\n".join(map(plain, lines))

    def to_document(self) -> NumericsDocument:
        """numerics.json: plain JSON values; NaN and infinities are strings."""
        first = self.first_difference
        return {
            **head("numerics"),
            "model": self.model,
            "reference": self.reference,
            "test": self.test,
            "seed": self.seed,
            "repeats": self.repeats,
            "gradients": self.gradients,
            "passed": self.passed,
            "failure": self.failure,
            "graphs": self.graphs,
            "verdict": self.verdict(),
            "leaves": [leaf.to_document() for leaf in self.leaves],
            "reference_varies": {name: plain_number(by) for name, by in self.reference_varies.items()},
            "test_varies": {name: plain_number(by) for name, by in self.test_varies.items()},
            "first_difference": None if first is None else first.to_document(),
            "cause": [] if first is None else describe_first_difference(first, self.graphs),
            "pictures": sorted(self.pictures),
        }

    def write(self, run: RunFolder) -> None:
        """numerics.json, the pictures in numerics/, and traceback.txt if the backend could not run the model."""
        run.write_json("numerics.json", self.to_document())
        run.add_traceback(self.traceback)
        for name, picture in self.pictures.items():
            run.write_bytes(f"numerics/{name}", picture)

    def keep(self, **manifest: Any) -> RunFolder:
        """Write it into a new run."""
        run = RunFolder.create("diff", subject=self.model, **manifest)
        self.write(run)
        return run

    def _shown_leaves(self) -> list[LeafComparison]:
        if len(self.leaves) <= _SHOWN:
            return list(self.leaves)
        return sorted(self.leaves, key=lambda leaf: leaf.passed)[:_SHOWN]

    def _variations(self) -> list[str]:
        both = ((self.reference, self.reference_varies), (self.test, self.test_varies))
        lines = [
            f"{name} itself varies from one run to the next, by up to {max(varies.values()):.3g}: {', '.join(varies)}"
            for name, varies in both
            if varies
        ]
        if self.reference_varies:
            lines.insert(1, "  A call may change what is not copied: global state, or tensors inside an object")
        return lines


WITHOUT_AN_OP = {
    "outside": "each graph, run by itself on copies of its inputs and with gradients of our own, equals the same ops "
    "run eagerly: the difference is between graphs, or adds up",
    "varies": "its results vary from one call to the next: no op can be blamed for that",
    "writes": "the backend changes an input that the graph does not write to",
    "sum": "the gradient of a value is not the sum of those that its uses have",
    "outputs": "what the backend returns, or writes to an input, is not what it computed",
    "copies": "even what is only passed on comes back changed: nothing that the backend returns tells what it computed",
    "elides": "a copy of a tensor changes when that tensor is written to later: the backend leaves copies out, or "
    "makes them too late. So nothing that it returns tells which op is wrong",
    "merges": "two equal expressions have one value, although what they take is written to between them: the backend "
    "merges them, or writes too late. So nothing that it returns tells which op is wrong",
    "generator": "the backend draws random numbers from torch's generators that eager does not draw, or in another "
    "way: what is drawn later is not what eager draws",
    "draws": "the backend draws random numbers from torch's generators that eager does not draw, or in another way: "
    "what it returns is right, and what is drawn later is not what eager draws",
    "adds up": "every op is right on the operands that it was given, within the tolerance: the difference adds up, or "
    "a smaller tolerance would show more",
    "unknown": "it is not known which op is wrong",
}


_PROOFS = {
    "op": "op that is computed wrongly is {op}: on the same operands eager has another result",
    "backward": "op whose backward is wrong is {op}: from the same gradients eager has others",
}


def describe_first_difference(found: FirstDifference, graphs: int) -> list[str]:
    """Sentences about the first difference; all but the first are indented. What is not known is left out."""
    ops = counted(found.ops, "aten op" if found.aten else "op")
    where = "" if found.graph is None else f"in graph {found.graph + 1} of {graphs} ({ops}) "
    if found.kind == "sum" and found.difference is not None:
        first = f"the {found.difference.name} is not the sum of those that the uses of the value have"
    elif found.op is None:
        first = WITHOUT_AN_OP[found.kind]
    else:
        which = "an" if found.open else "the first"
        first = f"{which} {_PROOFS[found.kind].format(op=found.op)}"
    more = []
    if found.op is not None:
        takes = "it takes" if found.op.count == 1 else "they take"
        more.append(f"{takes} {', '.join(map(str, found.op.operands)) or 'no tensor'}")
    if found.difference is not None:
        more.append(f"{_what_differs(found.difference)}: {found.difference.reason}")
    if found.uses:
        more.append(f"the value is used by {', '.join(map(str, found.uses))}")
    if found.others:
        others = counted(found.others, "other sum" if found.kind == "sum" else "other op")
        more.append(f"while all are watched, {others} {'is' if found.others == 1 else 'are'} wrong, too")
    compiled = [f"to find this, {counted(found.compiled, 'more graph')} had to be compiled"] if found.compiled else []
    return [_sentence(f"{where}{first}"), *(f"  {_sentence(each)}" for each in (*more, *found.open, *compiled))]


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _what_differs(difference: LeafComparison) -> str:
    return "its output" if difference.name == "output" else difference.name


def _row(leaf: LeafComparison) -> tuple[str, ...]:
    rounding = leaf.comparison is not None and leaf.comparison.rounding
    verdict = "rounding" if leaf.passed and rounding else "ok" if leaf.passed else "DIFFERS"
    written = f"{leaf.name} (written)" if leaf.part in ("input", "state") else leaf.name
    if (found := leaf.comparison) is None:
        return written, "", "", "", "", "", "", verdict
    tensor = f"{found.dtype}{list(found.shape)}"
    errors = (f"{value:.2e}" for value in (found.max_absolute_error, found.max_relative_error, found.rmse))
    ulp = "" if found.max_ulp is None else str(found.max_ulp)
    return written, tensor, *errors, ulp, f"{found.mismatch_percentage:.4g} %", verdict
