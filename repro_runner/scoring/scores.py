"""The scores of a file of answers: by verdict, by kind of break and in all, as a document and as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from registry.documents import head
from registry.fix_benchmark import Task
from repro_runner.output.terminal import plain, table
from repro_runner.scoring.verdicts import NO_ANSWER, SOLVED, VERDICTS, Judgement

_LONGEST_CAUSE = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """What became of every task. A task without an answer counts as not solved."""

    environment: Mapping[str, str]
    backend: str
    models: tuple[str, ...]
    tasks: tuple[Task, ...]
    judgements: Mapping[str, Judgement]
    """By name of the task."""

    @property
    def rate(self) -> float:
        """Solved tasks, in per cent of all."""
        return _percent(self._solved(self.tasks), len(self.tasks))

    @property
    def verdicts(self) -> dict[str, int]:
        """How many tasks have each verdict."""
        counts = Counter(self.judgements[task.name].verdict for task in self.tasks)
        return {verdict: counts[verdict] for verdict in VERDICTS}

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {
            **head("fix scores"),
            "environment": dict(self.environment),
            "backend": self.backend,
            "models": list(self.models),
            "tasks": len(self.tasks),
            "solved": self._solved(self.tasks),
            "rate": round(self.rate, 2),
            "verdicts": self.verdicts,
            "kinds": {
                kind: {"tasks": len(tasks), "solved": self._solved(tasks)} for kind, tasks in self._by_kind().items()
            },
            "answers": [
                {"id": task.name, "verdict": found.verdict, "cause": found.cause}
                for task, found in ((task, self.judgements[task.name]) for task in self.tasks)
            ],
        }

    def text(self) -> str:
        """For a terminal."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        place = self.environment
        by = f"; answers by {', '.join(map(plain, self.models))}" if self.models else ""
        yield f"Fix benchmark, torch {place['torch']}, Python {place['python']}, backend {self.backend}{by}"
        whole = len(self.tasks)
        yield f"solved: {self._solved(self.tasks)} of {whole} tasks, {self.rate:.1f} %\n"
        rows: list[tuple[object, ...]] = [("verdict", "tasks", "%")]
        rows += [(verdict, count, f"{_percent(count, whole):.1f}") for verdict, count in self.verdicts.items() if count]
        yield from table([*rows, ("all", whole, "100.0")], right=(1, 2))
        yield ""
        kinds: list[tuple[object, ...]] = [("kind of break", "tasks", "solved", "%")]
        for kind, tasks in {**self._by_kind(), "all": self.tasks}.items():
            solved = self._solved(tasks)
            kinds.append((kind, len(tasks), solved, f"{_percent(solved, len(tasks)):.1f}"))
        yield from table(kinds, right=(1, 2, 3))
        judged = sorted((name, one) for name, one in self.judgements.items() if one.verdict != NO_ANSWER)
        yield from _listed("not solved", [(name, one) for name, one in judged if one.verdict != SOLVED])
        yield from _listed(
            "solved in part", [(name, one) for name, one in judged if one.verdict == SOLVED and one.cause]
        )

    def _by_kind(self) -> dict[str, tuple[Task, ...]]:
        kinds = sorted({task.category for task in self.tasks})
        return {kind: tuple(task for task in self.tasks if task.category == kind) for kind in kinds}

    def _solved(self, tasks: Sequence[Task]) -> int:
        return sum(self.judgements[task.name].verdict == SOLVED for task in tasks)


def _listed(title: str, judged: Sequence[tuple[str, Judgement]]) -> Iterator[str]:
    if judged:
        yield f"\n{title}:"
    for name, one in judged:
        cause = plain(one.cause)
        short = f"{cause[:_LONGEST_CAUSE]}…" if len(cause) > _LONGEST_CAUSE else cause
        yield f"  {name}  {one.verdict}{f': {short}' if short else ''}"


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0
