"""Record the traces beside this file: run each program with the installed torch, and keep what it wrote.

    python -m tests.repro_runner.traces.record

Kept are the trace of each process, the graph_breaks log of the same run, and what `capture_breaks` saw in it: two
independent readings. Paths of this machine are replaced, and each payload gets the checksum of its new text.
torch_2_11.trace_.log.zst comes from another machine, with torch 2.11 and a program much like seven.py; it stays.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import zstandard

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
PROGRAMS = ("seven", "fatal", "wav2vec2", "ranks")
PROJECT = "/home/user/project"


def main() -> None:
    """Run all programs, or as a child the one that is named."""
    if len(sys.argv) > 1:
        run_captured(Path(sys.argv[1]))
        return
    for name in PROGRAMS:
        for old in (*HERE.glob(f"{name}.*.zst"), *HERE.glob(f"{name}.json")):
            old.unlink()
        with tempfile.TemporaryDirectory() as folder:
            record(name, Path(folder).resolve())


def record(name: str, folder: Path) -> None:
    """Run one program in an empty folder, and keep its logs."""
    for path, text in run_program(name, folder).items():
        if path.suffix == ".json":
            (HERE / path.name).write_bytes(text)
        else:
            packed = zstandard.ZstdCompressor(level=19).compress(text)
            (HERE / f"{name}.{path.name.removeprefix('dedicated_log_torch_')}.zst").write_bytes(packed)


def run_program(name: str, folder: Path) -> dict[Path, bytes]:
    """What a program wrote into its folder: the traces, the log, the captured breaks; with neutral paths."""
    shutil.copy(HERE / "programs" / f"{name}.py", folder)
    logs = {"TORCH_TRACE": str(folder / "trace"), "TORCH_LOGS": "graph_breaks,recompiles"}
    with (folder / "text.log").open("wb") as log:
        subprocess.run(
            [sys.executable, "-m", "tests.repro_runner.traces.record", str(folder / f"{name}.py")],
            cwd=ROOT,
            env={**os.environ, **logs, "OMP_NUM_THREADS": "1"},
            stderr=log,
            stdout=subprocess.DEVNULL,
            check=True,
        )
    written: dict[Path, bytes] = {}
    for path in sorted((*folder.glob("trace/*"), *folder.glob("*.log"), *folder.glob("*.json"))):
        neutral = path
        if named := re.match(r"(dedicated_log_torch_trace_(?:rank_\d+_)?)", path.name):
            neutral = path.with_name(f"{named[1].rstrip('_')}_.log")
        text = neutral_paths(path.read_text("utf-8"), folder).encode()
        written[neutral] = renew_checksums(text) if path.parent.name == "trace" else text
    return written


def run_captured(program: Path) -> None:
    """The child: run a program, and write the breaks that were captured in this process beside it."""
    from repro_runner.capture import capture_breaks

    os.chdir(program.parent)
    with capture_breaks() as breaks:
        runpy.run_path(str(program), run_name="__main__")
    seen = [
        {
            "gb_id": found.gb_id,
            "surfaced_as": found.surfaced_as,
            "kind": found.kind,
            "file": found.stack[-1].file if found.stack else "",
            "line": found.stack[-1].line if found.stack else 0,
            "compile_id": found.compile_id,
        }
        for found in breaks
        if found.happened
    ]
    if seen:
        program.with_suffix(".json").write_text(json.dumps(seen, indent=1) + "\n", "utf-8")


def neutral_paths(text: str, folder: Path) -> str:
    replaced = {
        str(folder): PROJECT,
        sysconfig.get_paths()["purelib"]: "/opt/venv/site-packages",
        sysconfig.get_paths()["stdlib"]: "/usr/lib/python3",
        str(ROOT): "/opt/registry",
        tempfile.gettempdir(): "/tmp",
    }
    for path, neutral in replaced.items():
        text = text.replace(path, neutral)
    return text


def renew_checksums(trace: bytes) -> bytes:
    """Payloads that hold a path have other text now."""

    def renew(record: re.Match[bytes]) -> bytes:
        payload = record[3][2:].replace(b"\n\t", b"\n")
        return record[1] + hashlib.md5(payload, usedforsecurity=False).hexdigest().encode() + record[2] + record[3]

    return re.sub(rb'("has_payload": ")[0-9a-f]{32}("[^\n]*)((?:\n\t[^\n]*)+)', renew, trace)


if __name__ == "__main__":
    main()
