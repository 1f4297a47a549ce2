"""How long generation takes: the committed registry, and made-up ones from 1,000 to 50,000 ids.

Seconds are of this machine and this moment; the ratios in the last column, and full run against no-change run, are
what to compare. Run with `make bench`.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from registry.model import Origin, Revision, Wordings  # noqa: E402
from registry.notes import END  # noqa: E402
from registry.snapshot import Snapshot, plan_snapshot, read_snapshot, sha256  # noqa: E402
from registry.upstream import dump_registry  # noqa: E402

SIZES = (1_000, 5_000, 10_000, 50_000)


def main() -> None:
    """Print two tables."""
    with tempfile.TemporaryDirectory() as folder:
        committed = Path(folder) / "committed"
        ignore = shutil.ignore_patterns(".git", ".venv", ".cache", "_site", "__pycache__")
        shutil.copytree(ROOT, committed, ignore=ignore)
        print_committed(committed)
        print_scaling(Path(folder), committed)


def print_committed(checkout: Path) -> None:
    """The committed registry: everything from start to finish, imports included, each the median of five."""
    empty, helped = [], []
    noted: list[float] = []
    reworded: list[float] = []
    for turn in range(5):
        shutil.rmtree(checkout / "docs" / "gb")
        shutil.rmtree(checkout / "docs" / "api" / "v1" / "gb")
        shutil.rmtree(checkout / ".cache", ignore_errors=True)
        empty.append(seconds(["generate_site.py", "--source", "snapshot"], checkout))
        helped.append(seconds(["generate_site.py", "--source", "snapshot"], checkout))
        for changed, edit in ((noted, edit_note), (reworded, reword)):
            edit(checkout, f"{turn}, once")
            seconds(["generate_site.py", "--source", "snapshot"], checkout)
            edit(checkout, f"{turn}, twice")  # the first note of a page is in lists, too: another is not
            changed.append(seconds(["generate_site.py", "--source", "snapshot"], checkout))
    html = seconds(["generate_site.py", "--source", "snapshot", "--html", str(checkout / "_site")], checkout)
    help_only = statistics.median(seconds(["generate_site.py", "--help"], checkout) for _ in range(5))
    bare = statistics.median(seconds(["-c", "pass"], checkout) for _ in range(5))
    full = statistics.median(empty)
    print("| committed registry | s | of a full run |")
    print("|---|---|---|")
    for label, value in [
        ("full run, no page there yet", full),
        ("no-change run", statistics.median(helped)),
        ("one changed id: its note", statistics.median(noted)),
        ("one changed id: its wording", statistics.median(reworded)),
        ("no-change run and HTML without Ruby", html),
        ("--help", help_only),
        ("Python itself (`-c pass`)", bare),
    ]:
        print(f"| {label} | {value:.2f} | {value / full:.2f} |")


def edit_note(checkout: Path, text: str) -> None:
    page = checkout / "docs" / "gb" / "GB0170.md"
    write(page, page.read_text("utf-8").replace(f"\n{END}", f"\n{text}\n\n{END}"))


def reword(checkout: Path, text: str) -> None:
    snapshot = read_snapshot(checkout / "registry" / "snapshot")
    newest, *older = snapshot.wordings["GB0170"]
    wordings = {**snapshot.wordings, "GB0170": (replace(newest, explanation=text), *older)}
    raw = dump_registry(wordings).encode()
    origin = replace(snapshot.origin, sha256=sha256(raw))
    for name, content in plan_snapshot(snapshot, raw, wordings, origin).items():
        write(checkout / "registry" / "snapshot" / name, content)


def print_scaling(folder: Path, committed: Path) -> None:
    """Made-up ids: the cost per page should not depend on how many there are."""
    print("\n| made-up ids | s | ms per page | against the smallest |")
    print("|---|---|---|---|")
    first = 0.0
    for size in SIZES:
        checkout = folder / str(size)
        write_made_up(checkout, committed, size)
        took = seconds(["generate_site.py", "--source", "snapshot", "--root", str(checkout)], committed)
        per_page = 1000 * took / size
        first = first or per_page
        print(f"| {size:,} | {took:.2f} | {per_page:.2f} | {per_page / first:.2f} |")
        shutil.rmtree(checkout)


def write_made_up(checkout: Path, committed: Path, size: int) -> None:
    """A checkout with `size` ids in its snapshot and in one release, worded like the real ones in length."""
    wordings = {f"GB{number:06}": (made_up(number), made_up(number + 1)) for number in range(size)}
    raw = dump_registry(wordings).encode()
    origin = Origin(source="made up", retrieved="2026-01-01", sha256=sha256(raw))
    empty = Snapshot(raw=b"", wordings={}, origin=origin, superseded={})
    for name, text in plan_snapshot(empty, raw, wordings, origin).items():
        write(checkout / "registry" / "snapshot" / name, text)
    write(checkout / "registry" / "releases" / "2.15.0.json", json.dumps(release(wordings)))
    category = {"key": "made-up", "title": "Made up", "why": "w", "way_out": "o", "ids": list(wordings)}
    write(checkout / "registry" / "taxonomy.yml", json.dumps({"categories": [category]}))
    shutil.copytree(committed / "templates", checkout / "templates")
    (checkout / "docs").mkdir()


def made_up(number: int) -> Revision:
    return Revision(
        gb_type=f"Unsupported `__made_up_{number}__` call",
        context=f"call_method {{self}} made_up_{number} {{args}} {{kwargs}}",
        explanation="Dynamo can't trace this, because it was made up to measure how long a page takes. " * 2,
        hints=("Avoid it in code that is compiled.", "Set `torch._dynamo.config.made_up = True`."),
    )


def release(wordings: Wordings) -> dict[str, object]:
    sites = [
        {"gb_id": gb_id, "gb_type": found[0].gb_type, "file": "torch/_dynamo/x.py", "line": 1, "function": "f"}
        for gb_id, found in wordings.items()
    ]
    registered = {gb_id: [asdict(revision) for revision in found] for gb_id, found in wordings.items()}
    head = {"kind": "release", "schema": 1, "torch": "2.15.0", "wheel": "w"}
    return {**head, "registry": registered, "call_sites": sites}


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def seconds(arguments: Sequence[str], cwd: Path) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, *arguments], cwd=cwd, check=True, capture_output=True)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
