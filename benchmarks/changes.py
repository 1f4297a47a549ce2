"""How well the judge of a change judges: how many dishonest changes it refuses, and how many honest ones it accepts.

The changes are in tests/repro_runner/fixtures/changes, which says what they are. Those of one function are run as
`graphbreak run` runs a program, those of a whole program by `graphbreak explain --try`. A change that `holds for what
ran` is accepted, with what never ran or could not be compared beside it. One of whose program nothing can be said is
`not judged`, which is right for neither kind.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from repro_runner.runner.machine import Finished, ReproRun, ThisMachine, known_types  # noqa: E402

CHANGES = ROOT / "tests" / "repro_runner" / "fixtures" / "changes"
RIGHT = {"honest": ("accepted", "for what ran"), "dishonest": ("refused",)}
"""Kind of a change -> the right verdicts."""
VERDICTS = ("accepted", "for what ran", "refused", "not judged")
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
        return self.verdict in RIGHT[self.kind]


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
        yield _judged(by_program[ended.program], ended)


def _judged(path: Path, ended: Finished) -> Judged:
    kind, name = path.parent.name, path.stem
    fix, cause = ended.record.get("fixes", {}).get("fixed"), str(ended.record.get("cause", ""))
    if fix is None:
        died = cause.startswith("ended with")
        verdict, reason = ("refused", "ends its process") if died else ("not judged", "")
        return Judged(kind=kind, name=name, verdict=verdict, reason=reason, cause=cause)
    if fix["holds"]:
        verdict = "for what ran" if fix.get("never_reached") else "accepted"
        return Judged(kind=kind, name=name, verdict=verdict, cause=", ".join(fix.get("never_reached", ())))
    reason = fix.get("aspect", "does not run")
    return Judged(kind=kind, name=name, verdict="refused", reason=reason, cause=fix.get("cause", ""))


def programs() -> list[Path]:
    """The changes of whole programs, those of the same kind together."""
    return [path for kind in RIGHT for path in sorted((CHANGES / "programs" / kind).iterdir())]


def judge_programs(folders: Iterable[Path]) -> Iterator[Judged]:
    """What `graphbreak explain --try` says of each, as it ends."""
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for done in as_completed([pool.submit(_try, folder) for folder in folders]):
            yield done.result()


def _try(folder: Path) -> Judged:
    kind, name = folder.parent.name, folder.name
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(folder, copy, dirs_exist_ok=True)
        command = [
            sys.executable,
            "-m",
            "repro_runner",
            "explain",
            "--try",
            "after.py",
            "--format",
            "json",
            "before.py",
        ]
        ended = subprocess.run(
            command, cwd=copy, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
        )
    if not ended.stdout.startswith("{"):
        return Judged(kind=kind, name=name, verdict="not judged", cause=ended.stderr.strip()[-300:])
    said = json.loads(ended.stdout)
    verdict = {"holds": "accepted", "holds for what ran": "for what ran"}.get(said["verdict"], "refused")
    reason = ("when it ran" if said["was_run"] else "before it ran") if verdict == "refused" else ""
    return Judged(kind=kind, name=name, verdict=verdict, reason=reason, cause=said["reason"])


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
            print(f"\nWRONG: {one.kind}/{one.name} is {one.verdict}{f' ({one.cause})' if one.cause else ''}")


TABLES: dict[str, tuple[Callable[[], list[Path]], Callable[[Iterable[Path]], Iterator[Judged]]]] = {
    "functions": (functions, judge_functions),
    "programs": (programs, judge_programs),
}
"""What a table is about -> what is judged, and what judges it."""


def main() -> int:
    """Print the tables; 1 if the judge is not good enough."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="only these changes: arm_of_a_ternary")
    parser.add_argument("--sample", metavar="N", type=int, help="only so many, always the same")
    arguments = parser.parse_args()
    everything: list[Judged] = []
    known = set[str]()
    for title, (listed, judge) in TABLES.items():
        files = listed()
        known |= {path.stem for path in files}
        chosen = [path for path in files if not arguments.names or path.stem in arguments.names]
        if arguments.sample and arguments.sample < len(chosen):
            chosen = random.Random(0).sample(chosen, arguments.sample)
        found = []
        for judged in judge(chosen):
            print(f"{judged.kind}/{judged.name}: {judged.verdict}", file=sys.stderr, flush=True)  # it takes minutes
            found.append(judged)
        print_table(title, sorted(found, key=lambda one: (one.kind, one.name)))
        everything += found
    if unknown := sorted(set(arguments.names) - known):
        parser.error(f"no change is called {', '.join(unknown)}")
    return 0 if is_good(everything) else 1


if __name__ == "__main__":
    sys.exit(main())
