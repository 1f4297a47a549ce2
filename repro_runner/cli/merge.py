"""`graphbreak merge`: join shards of one environment into the file that one run would have written."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from registry.datafile import check_writable, read_data_file, write_data_file
from registry.errors import InvalidInput, WriteFailed
from registry.evidence import BACKENDS
from registry.evidence_file import (
    Document,
    changed_runs,
    dump_document,
    file_name,
    lay_over,
    merge_documents,
    new_document,
    parse_document,
    runs_of,
)
from registry.repros import read_repros
from repro_runner.cli import verb_parser
from repro_runner.exit_codes import DONE, REFUSED

INTO = """\
--into updates the file of the same torch and device in FOLDER, or creates it. Records that were not run again stay.
Runs of another version of a program than the one in FOLDER/../repros are left out. If no record changes, the file stays
the same. The command prints which verdicts changed.
"""


def main(argv: Sequence[str]) -> int:
    """Write the merged file. Exit code 2 if a shard can't be read or does not fit the others."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    if arguments.waiting and arguments.out:
        parser.error("--waiting goes with --into")
    try:
        merged = merge_documents((str(path), _read(path)) for path in arguments.shards)
        if arguments.into is not None:
            return _merge_into(arguments.into, str(arguments.shards[0]), merged, arguments.waiting)
        write_data_file(arguments.out, dump_document(merged))
    except (InvalidInput, WriteFailed) as error:
        print(error, file=sys.stderr)
        return REFUSED
    print(f"{len(merged['records'])} ids from {len(arguments.shards)} files; {arguments.out.name}")
    return DONE


def _parser() -> argparse.ArgumentParser:
    parser = verb_parser("merge", "Join the evidence files of shards into one.", INTO)
    parser.add_argument("shards", nargs="+", type=Path, metavar="SHARD")
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument("--out", type=Path, metavar="FILE", help="write only what the shards have")
    target.add_argument("--into", type=Path, metavar="FOLDER", help="such as registry/evidence")
    parser.add_argument(
        "--waiting", type=Path, metavar="FILE", help="with --into: older runs, used where the shards have none"
    )
    return parser


def _read(path: Path) -> Document:
    return parse_document(read_data_file(path), str(path))


def _merge_into(folder: Path, where: str, merged: Document, waiting: Path | None) -> int:
    path = folder / file_name(merged["environment"])
    check_writable(path)
    current = {gb_id: repro.sha256 for gb_id, repro in read_repros(folder.parent / "repros").items()}
    before = _read(path) if path.exists() else new_document(merged["environment"])
    newer = [(str(waiting), _read(waiting))] if waiting else []
    after = lay_over(before, str(path), [*newer, (where, merged)], current)
    if after is not before:
        write_data_file(path, dump_document(after))
    for line in _report(before, after, merged, current):
        print(textwrap.fill(line, 100, subsequent_indent="  ", break_on_hyphens=False))
    return DONE


def _report(before: Document, after: Document, merged: Document, current: Mapping[str, str]) -> Iterator[str]:
    """Yield lines with the verdicts before and after, the ids behind each change, and runs that the shards lack."""
    environment = after["environment"]
    yield f"torch {environment['torch']}, Python {environment['python']}, {environment['device']}"
    yield f"before: {_count(before)}"
    yield f"after:  {_count(after)}"
    changes: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    same = 0
    for gb_id, backend, old, new in changed_runs(before, after):
        if old == new:
            same += 1
        else:
            changes[f"{old} -> {new}"][gb_id].append(backend)
    for change, ids in sorted(changes.items()):
        yield f"{change}: {_listed(ids)}"
    if same:
        yield f"same verdict, other details: {same} {'run' if same == 1 else 'runs'}"
    if not (changes or same):
        yield "nothing changed"
    missing: dict[str, list[str]] = defaultdict(list)
    for gb_id, sha256 in sorted(current.items()):
        record = merged["records"].get(gb_id, {})
        runs = record["runs"] if record.get("repro_sha256") == sha256 else {}
        if left := [backend for backend in BACKENDS if not runs.get(backend)]:
            missing[gb_id] = left
    if missing:
        yield f"not in this run: {_listed(missing)}"


def _count(document: Document) -> str:
    verdicts = Counter(str(run["verdict"]) for run in runs_of(document).values())
    return ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items())) or "nothing"


def _listed(ids: Mapping[str, Sequence[str]]) -> str:
    """`GB0001, GB0002:eager+mock`: the backends are listed only if they are not all backends."""
    return ", ".join(
        gb_id if set(backends) == set(BACKENDS) else f"{gb_id}:{'+'.join(backends)}"
        for gb_id, backends in sorted(ids.items())
    )
