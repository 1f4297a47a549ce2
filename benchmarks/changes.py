"""How well the judge of a change judges: how many dishonest changes it refuses, and how many honest ones it accepts.

The changes are in tests/repro_runner/fixtures/changes, which says what they are. Each is run as `graphbreak run` runs a
program. A change of whose program nothing can be said is `not judged`, which is right for neither kind.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from repro_runner.runner.machine import Finished, ReproRun, ThisMachine, known_types  # noqa: E402

CHANGES = ROOT / "tests" / "repro_runner" / "fixtures" / "changes"
RIGHT = {"honest": "accepted", "dishonest": "refused"}
"""Kind of a change -> the right verdict."""
VERDICTS = ("accepted", "refused", "not judged")
LEAST_REFUSED = 77 / 80
"""The part of the dishonest changes that has to be refused."""
_OF_ANOTHER_ID = "GB0000"
"""Which id a program gives does not matter here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What the judge said of a change."""

    kind: str
    """`honest` or `dishonest`."""
    name: str
    verdict: str
    """One of VERDICTS."""
    reason: str = ""
    """In what it differs: `results`, `state`."""
    cause: str = ""

    @property
    def is_right(self) -> bool:
        return self.verdict == RIGHT[self.kind]


def functions() -> list[Path]:
    """The changes of one function each, those of the same kind together."""
    return [path for kind in RIGHT for path in sorted((CHANGES / kind).glob("*.py"))]


def judge_functions(files: Iterable[Path]) -> Iterator[Judged]:
    """What the judge says of each, as it ends."""
    types = known_types()
    by_program = {f"{_OF_ANOTHER_ID}_{path.parent.name}_{path.stem}": path for path in files}
    runs = [
        ReproRun(program=name, source=path.read_text("utf-8"), other_types=types) for name, path in by_program.items()
    ]
    for ended in ThisMachine("cpu", slots=os.cpu_count() or 1).run(runs):
        judged = _judged(by_program[ended.program], ended)
        print(f"{judged.kind}/{judged.name}: {judged.verdict}", file=sys.stderr, flush=True)  # it takes minutes
        yield judged


def _judged(path: Path, ended: Finished) -> Judged:
    kind, name = path.parent.name, path.stem
    fix, cause = ended.record.get("fixes", {}).get("fixed"), str(ended.record.get("cause", ""))
    if fix is None:
        died = cause.startswith("ended with")
        verdict, reason = ("refused", "ends its process") if died else ("not judged", "")
        return Judged(kind=kind, name=name, verdict=verdict, reason=reason, cause=cause)
    if fix["holds"]:
        return Judged(kind=kind, name=name, verdict="accepted")
    reason = fix.get("aspect", "does not run")
    return Judged(kind=kind, name=name, verdict="refused", reason=reason, cause=fix.get("cause", ""))


def is_good(found: Sequence[Judged]) -> bool:
    """Whether every honest change is accepted, and of the dishonest ones enough are refused."""
    honest, dishonest = ([one.is_right for one in found if one.kind == kind] for kind in RIGHT)
    return all(honest) and sum(dishonest) >= LEAST_REFUSED * len(dishonest)


def print_table(title: str, found: Sequence[Judged]) -> None:
    """Print the counts, what they are made of, and every change that was judged wrongly."""
    print(f"| {title} | number | " + " | ".join(VERDICTS) + " |\n|" + "---|" * (len(VERDICTS) + 2))
    for kind in RIGHT:
        counts = Counter(one.verdict for one in found if one.kind == kind)
        print(f"| {kind} | {counts.total()} | " + " | ".join(str(counts[one]) for one in VERDICTS) + " |")
    print("\n| dishonest, refused for | number |\n|---|---|")
    for reason, number in Counter(one.reason for one in found if one.kind == "dishonest" and one.reason).most_common():
        print(f"| {reason} | {number} |")
    for one in found:
        if not one.is_right:
            said = f" ({one.reason or 'no verdict'}: {one.cause})" if one.cause else ""
            print(f"\nWRONG: {one.kind}/{one.name} is {one.verdict}{said}")


TABLES: dict[str, tuple[Callable[[], list[Path]], Callable[[Iterable[Path]], Iterator[Judged]]]] = {
    "functions": (functions, judge_functions),
}
"""What a table is about -> what is judged, and what judges it."""


def main() -> int:
    """Print the tables; 1 if the judge is not good enough."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="only these changes: arm_of_a_ternary")
    parser.add_argument("--sample", metavar="N", type=int, help="only so many, always the same")
    arguments = parser.parse_args()
    good, known = True, set()
    for title, (listed, judge) in TABLES.items():
        files = listed()
        known |= {path.stem for path in files}
        chosen = [path for path in files if not arguments.names or path.stem in arguments.names]
        if arguments.sample and arguments.sample < len(chosen):
            chosen = random.Random(0).sample(chosen, arguments.sample)
        found = sorted(judge(chosen), key=lambda one: (one.kind, one.name))
        print_table(title, found)
        good &= is_good(found)
    if unknown := sorted(set(arguments.names) - known):
        parser.error(f"no change is called {', '.join(unknown)}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
