"""What differs between the ranks of one job: breaks, graphs, recompiles, and the first compilation where they part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TypedDict

from repro_runner.logs.traces.compilations import CompilationDocument, ProcessDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class Unequal:
    """Something that ranks saw a different number of times."""

    what: str
    """break, graphs or recompile."""
    name: str
    """GB0059 at model.py:13; of a recompile, the function."""
    counts: Mapping[int, int]


class Step(TypedDict):
    """What one rank did at a point: nothing more, where its compile_id is empty."""

    compile_id: str
    does: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RankDifferences:
    """All that ranks do not share; they are the same when there is none."""

    ranks: tuple[int, ...]
    unequal: tuple[Unequal, ...] = ()
    parting: Mapping[int, Step] | None = None
    """Per rank, the first compilation that is not the same on all."""

    def __bool__(self) -> bool:
        return bool(self.unequal or self.parting)


def find_rank_differences(processes: Iterable[ProcessDocument]) -> RankDifferences | None:
    """Compare the ranks; None where there are not two."""
    ranks: dict[int, list[CompilationDocument]] = {}
    for process in processes:
        if (rank := process["rank"]) is not None:
            ranks.setdefault(rank, []).extend(process["compilations"])
    if len(ranks) < 2:
        return None
    ranks = dict(sorted(ranks.items()))
    unequal = [
        *_unequal("graphs", ranks, lambda compilation: ["graphs"] * compilation["graphs"]),
        *_unequal("break", ranks, _break_names),
        *_unequal("recompile", ranks, lambda compilation: [_function(compilation)] if compilation["guard"] else []),
    ]
    return RankDifferences(ranks=tuple(ranks), unequal=tuple(unequal), parting=_find_parting(ranks))


def describe_differences(differences: RankDifferences) -> Iterator[str]:
    """One line per difference, for people."""
    if not differences:
        yield f"ranks {_listed(differences.ranks)} compiled the same, break for break"
    if differences.parting is not None:
        steps = (f"rank {rank} {_step(step)}" for rank, step in differences.parting.items())
        yield f"the ranks part here: {'; '.join(steps)}"
    for unequal in differences.unequal:
        seen = [rank for rank, count in unequal.counts.items() if count]
        counts = ", ".join(f"{count} on rank {rank}" for rank, count in unequal.counts.items())
        only = f" (only on rank {_listed(seen)})" if len(seen) < len(unequal.counts) else ""
        name = unequal.what if unequal.name == unequal.what else f"{unequal.what} {unequal.name}"
        yield f"{name}: {counts}{only}"


def _unequal(
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
    """Compilations are compared in their order: ids alone say nothing about what was compiled."""
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


def _step(step: Step) -> str:
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
