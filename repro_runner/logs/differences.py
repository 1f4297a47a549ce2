"""What the ranks of one job do not share: a break that only some of them meet makes the others wait."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from repro_runner.logs import traces
from repro_runner.logs.gathering import Gathering, rank_order
from repro_runner.logs.model import LogPart
from repro_runner.logs.traces.document import ProcessDocument

PROCESSES = "processes"
"""Where a trace keeps what each process did."""


def find_differences(parts: Sequence[LogPart]) -> Iterator[str]:
    """One line per difference; none where there are not two ranks, or they are the same."""
    documents: list[ProcessDocument] = []
    for part in parts:
        processes = part.details.get(PROCESSES, ())
        assert isinstance(processes, Sequence)
        documents += processes
    # One file with several ranks says so itself.
    if sum(PROCESSES in part.details for part in parts) > 1 and (found := traces.find_rank_differences(documents)):
        yield from traces.describe_differences(found)
    yield from _by_counts([part for part in parts if PROCESSES not in part.details])


def _by_counts(parts: Sequence[LogPart]) -> Iterator[str]:
    breaks = Gathering(one for part in parts for one in part.breaks).breaks
    graphs: dict[str, int] = {}
    for part in parts:
        if part.rank:
            graphs[part.rank] = graphs.get(part.rank, 0) + (part.graphs or 0)
    ranks = sorted({*graphs, *(rank for one in breaks for rank in one.ranks)}, key=rank_order)
    if len(ranks) < 2:
        return
    if len(set(graphs.values())) > 1:
        yield f"graphs: {_counts(graphs, ranks)}"
    for one in breaks:
        if one.ranks and len({one.ranks.get(rank, 0) for rank in ranks}) > 1:
            name = " → ".join(one.gb_ids) or "an unknown break"
            yield f"{name}{f' at {one.where}' if one.where else ''}: {_counts(one.ranks, ranks)}"


def _counts(counts: Mapping[str, int], ranks: Sequence[str]) -> str:
    return ", ".join(f"{counts.get(rank, 0)}× on rank {rank}" for rank in ranks)
