"""Find differences between the ranks of one job: breaks, graphs, recompiles, and the first different compilation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TypedDict

from repro_runner.logs.traces.compilations import CompilationDocument, ProcessDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class Unequal:
    """Something that happened a different number of times on different ranks."""

    what: str
    """break, graphs or recompile."""
    name: str
    """For a break, `GB0059 at model.py:13`. For a recompile, the function."""
    counts: Mapping[int, int]


class Step(TypedDict):
    """What one rank compiled at the point where ranks differ. An empty compile_id means that it compiled no more."""

    compile_id: str
    does: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RankDifferences:
    """All differences between ranks. It is false if there are none."""

    ranks: tuple[int, ...]
    unequal: tuple[Unequal, ...] = ()
    parting: Mapping[int, Step] | None = None
    """By rank, the first compilation that is not the same on all ranks."""

    def __bool__(self) -> bool:
        return bool(self.unequal or self.parting)


def find_rank_differences(processes: Iterable[ProcessDocument]) -> RankDifferences | None:
    """Compare the ranks; None if there are fewer than two."""
    ranks: dict[int, list[CompilationDocument]] = {}
    for process in processes:
        if (rank := process["rank"]) is not None:
            ranks.setdefault(rank, []).extend(process["compilations"])
    if len(ranks) < 2:
        return None
    ranks = dict(sorted(ranks.items()))
    unequal = [
        *_unequal_counts("graphs", ranks, lambda compilation: ["graphs"] * compilation["graphs"]),
        *_unequal_counts("break", ranks, _break_names),
        *_unequal_counts("recompile", ranks, lambda found: [_function(found)] if found["guard"] else []),
    ]
    return RankDifferences(ranks=tuple(ranks), unequal=tuple(unequal), parting=_find_parting(ranks))


def describe_differences(differences: RankDifferences) -> Iterator[str]:
    """Yield one line per difference."""
    if not differences:
        yield f"ranks {_listed(differences.ranks)} compiled the same, break for break"
    if differences.parting is not None:
        steps = (f"rank {rank} {_describe_step(step)}" for rank, step in differences.parting.items())
        yield f"the ranks part here: {'; '.join(steps)}"
    for unequal in differences.unequal:
        seen = [rank for rank, count in unequal.counts.items() if count]
        counts = ", ".join(f"{count} on rank {rank}" for rank, count in unequal.counts.items())
        only = f" (only on rank {_listed(seen)})" if len(seen) < len(unequal.counts) else ""
        name = unequal.what if unequal.name == unequal.what else f"{unequal.what} {unequal.name}"
        yield f"{name}: {counts}{only}"


def _unequal_counts(
    what: str,
    ranks: Mapping[int, Sequence[CompilationDocument]],
    names: Callable[[CompilationDocument], Iterable[str]],
) -> Iterator[Unequal]:
    counted = {
        rank: Counter(name for compilation in compilations for name in names(compilation))
        for rank, compilations in ranks.items()
    }
    for name in dict.fromkeys(name for counts in counted.values() for name in counts):
        counts = {rank: counted[rank][name] for rank in ranks}
        if len(set(counts.values())) > 1:
            yield Unequal(what=what, name=name, counts=counts)


def _find_parting(ranks: Mapping[int, Sequence[CompilationDocument]]) -> dict[int, Step] | None:
    """The first compilations that differ, in the order of compilation; None if all are the same."""
    for steps in zip_longest(*ranks.values()):
        if len({_identity(step) for step in steps}) > 1:
            return {rank: _as_step(step) for rank, step in zip(ranks, steps, strict=True)}
    return None


def _identity(compilation: CompilationDocument | None) -> tuple[object, ...] | None:
    if compilation is None:
        return None
    return (
        compilation["compile_id"],
        _function(compilation),
        compilation["graphs"],
        compilation["ops"],
        *_break_names(compilation),
    )


def _as_step(compilation: CompilationDocument | None) -> Step:
    if compilation is None:
        return {"compile_id": "", "does": ""}
    breaks = ", ".join(_break_names(compilation))
    ops = compilation["ops"]
    size = f"graphs: {compilation['graphs']}" + (f", ops: {ops}" if ops is not None else "")
    does = f"{_function(compilation)} ({size})" + (f", {breaks}" if breaks else "")
    return {"compile_id": compilation["compile_id"], "does": does}


def _describe_step(step: Step) -> str:
    return f"at {step['compile_id']} compiles {step['does']}" if step["compile_id"] else "compiles nothing more"


def _break_names(compilation: CompilationDocument) -> list[str]:
    return [
        f"{' -> '.join(found['gb_ids']) or 'unknown break'} at {found['file']}:{found['line']}"
        for found in compilation["breaks"]
    ]


def _function(compilation: CompilationDocument) -> str:
    return f"{compilation['function']} at {compilation['file']}:{compilation['line']}"


def _listed(ranks: Iterable[int]) -> str:
    return ", ".join(map(str, ranks))
