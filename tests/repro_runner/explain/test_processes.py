"""Processes that a program starts are watched, too, and are in one report."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from repro_runner.explain.document import report_from_document
from repro_runner.explain.render.sentences import processes, short_text
from tests.conftest import ROOT

pytestmark = [pytest.mark.torch, pytest.mark.slow]

MODEL = """\
import torch


def step(x):
    x = x + 1
    print("a break")
    return x * 2


def work(times):
    compiled = torch.compile(step, backend="eager")
    for _ in range(times):
        compiled(torch.ones(3))
    return times
"""
FORKED = """\
import multiprocessing
import os
import time

from model import work
from torch.utils.data import DataLoader


class Numbers:
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return work(1)


if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    for times in (2, 3):
        child = context.Process(target=work, args=(times,), name=f"worker {times}")
        child.start()
        child.join()
    with context.Pool(1) as pool:
        pool.map(work, [1])
        pool.apply_async(time.sleep, [60])
        time.sleep(1)  # it is busy then, so that a signal ends it
    list(DataLoader(Numbers(), num_workers=1))
    if os.fork() == 0:
        work(5)  # goes on to the end of the program
    else:
        os.wait()
"""
STARTED = """\
import multiprocessing
import os
import subprocess
import sys

from model import work

if __name__ == "__main__":
    child = multiprocessing.get_context("spawn").Process(target=work, args=(2,))
    child.start()
    child.join()
    subprocess.run([sys.executable, "-c", "import os; from model import work; work(3); os._exit(0)"], check=True)
    subprocess.run([sys.executable, "-I", "-c", "print(1)"], check=True)
    subprocess.run([sys.executable, "-c", "print(2)"], check=True, env={})
"""
RANKS = """\
import torch
import torch.distributed

torch.distributed.init_process_group("gloo")
rank = torch.distributed.get_rank()


@torch.compile(backend="eager")
def step(x):
    x = x + 1
    if rank == 1:
        print("only here")
    torch._dynamo.graph_break()
    return x * 2


for _ in range(3):
    result = step(torch.ones(3))
    torch.distributed.all_reduce(result)
torch.distributed.destroy_process_group()
"""


def explained(folder: Path, source: str, *words: str) -> dict[str, Any]:
    """The JSON that `graphbreak explain` writes, from another folder than this project's."""
    (folder / "model.py").write_text(MODEL, "utf-8")
    (folder / "main.py").write_text(source, "utf-8")
    command = [sys.executable, "-m", "repro_runner", "explain", "--format", "json", *(words or ("main.py",))]
    ended = subprocess.run(
        command, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    document: dict[str, Any] = json.loads(ended.stdout)
    return document


@pytest.mark.prove
def test_children_that_are_forked_have_their_own_counts(tmp_path: Path) -> None:
    document = explained(tmp_path, FORKED)
    (site,) = document["sites"]
    assert (site["gb_ids"][0], site["line"]) == ("GB0059", 6)
    counts = dict(site["ranks"])
    assert (counts.pop("worker 2"), counts.pop("worker 3"), counts.pop("a fork of main.py")) == (2, 3, 5)
    pool = next(name for name in counts if "PoolWorker" in name)
    assert counts.pop(pool) <= 1  # counted up to its last compilation
    assert list(counts.values()) == [4]  # the worker of the DataLoader
    notes = {one["name"]: one["note"] for one in document["processes"]}
    assert "ended from outside" in notes.pop(pool)
    assert set(notes.values()) == {""}
    assert len(notes) == 4
    assert document["totals"]["graphs"] == sum(one["totals"]["graphs"] for one in document["processes"]) == 10
    assert (document["reports"], document["unlisted"], document["compared"]) == (5, {}, True)


@pytest.mark.prove
def test_children_that_start_anew_are_watched_and_those_that_cannot_be_are_named(tmp_path: Path) -> None:
    document = explained(tmp_path, STARTED)
    (site,) = document["sites"]
    assert site["ranks"] == {"SpawnProcess-1": 2, "-c": 3}
    unwatched = [one for one in document["processes"] if "could not be watched" in one["note"]]
    assert [one["name"].partition(" ")[2] for one in unwatched] == ["-I -c print(1)", "-c print(2)"]
    report = report_from_document(document)
    told = processes(report)
    assert told[0] == "2 processes: SpawnProcess-1: 1 break site, 2 graphs; -c: 1 break site, 2 graphs"
    assert told[1].endswith(
        "-I -c print(1): is started without the environment of its parent, and could not be watched"
    )
    assert "torch.compile was never reached" not in short_text(report)


@pytest.mark.prove
def test_ranks_are_told_apart_and_where_they_part_is_said(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    run = ("-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-addr", "127.0.0.1", "--master-port", port)
    document = explained(tmp_path, RANKS, *run, "main.py")
    ranks = {(site["gb_ids"][0], site["line"]): site["ranks"] for site in document["sites"]}
    assert ranks == {("GB0025", 13): {"0": 3, "1": 3}, ("GB0059", 12): {"1": 3}}
    assert [one["name"] for one in document["processes"]] == ["rank 0", "rank 1"]
    assert "GB0059 at main.py:12: 0× on rank 0, 3× on rank 1" in document["differences"]
    assert all("main.py:13" not in line for line in document["differences"])
