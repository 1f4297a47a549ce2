"""`--executor ray` against a real cluster of two nodes on this machine, whose workers are killed while it works."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from repro_runner.cli import main
from repro_runner.runner.cluster import ClusterUnfit, _require_same_environment
from tests.conftest import ROOT

pytestmark = [pytest.mark.torch, pytest.mark.slow]

IDS = ("GB0066", "GB0109", "GB0186", "GB0233")
LOOPBACK_ONLY = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"


SMALL: dict[str, Any] = {"num_cpus": 1, "object_store_memory": 100 * 1024**2, "include_dashboard": False}


@pytest.fixture(scope="module")
def head() -> Iterator[Any]:
    """A cluster of one node, with room for one program."""
    os.environ |= {LOOPBACK_ONLY: "0", "RAY_USAGE_STATS_ENABLED": "0"}
    from ray.cluster_utils import Cluster

    nodes: Any = Cluster(initialize_head=True, head_node_args=SMALL)
    yield nodes
    nodes.shutdown()


@pytest.fixture(scope="module")
def cluster(head: Any) -> Any:
    """The same with a second node, which says that it has a GPU."""
    head.add_node(**SMALL, num_gpus=1)
    return head


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What this machine writes without a cluster."""
    out = tmp_path_factory.mktemp("evidence") / "whole.json"
    assert main(["run", *IDS, "--out", str(out)]) == 0
    return out


def start(out: Path, *arguments: str, address: str | None = None) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "repro_runner", "run", "--executor", "ray", "--out", str(out), *arguments]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    if address:
        environment["RAY_ADDRESS"] = address
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def commands() -> dict[int, str]:
    """What runs on this machine."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found[int(path.parent.name)] = path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
    return found


def test_a_cluster_without_a_gpu_says_so(head: Any, tmp_path: Path) -> None:
    process = start(tmp_path / "gpu.json", "GB0066", "--device", "cuda", address=head.address)
    _, errors = process.communicate(timeout=100)
    assert (process.returncode, errors) == (2, "no node of the Ray cluster has a GPU to give; add one that has\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.prove
def test_nothing_is_lost_when_a_worker_is_killed(cluster: Any, whole: Path, tmp_path: Path) -> None:
    out = tmp_path / "ray.json"
    process = start(out, *IDS, address=cluster.address)
    assert process.stdout is not None
    assert "verified" in process.stdout.readline()
    workers = [pid for pid, command in commands().items() if command.startswith("ray::_run_in_worker")]
    assert workers
    os.kill(workers[0], signal.SIGKILL)
    output, errors = process.communicate(timeout=200)
    assert process.returncode == 0, errors
    assert len(output.splitlines()) == len(IDS) - 1
    assert out.read_bytes() == whole.read_bytes()


@pytest.mark.prove
def test_work_for_a_gpu_goes_where_one_is(cluster: Any, tmp_path: Path) -> None:
    """No GPU is here, which the worker on the node that says so finds out; no other would have got as far."""
    process = start(tmp_path / "gpu.json", "GB0066", "--device", "cuda", address=cluster.address)
    _, errors = process.communicate(timeout=200)
    assert (process.returncode, errors.startswith("on the cluster: torch finds no GPU here")) == (2, True), errors


@pytest.mark.prove
def test_a_node_that_leaves_takes_nothing_with_it(cluster: Any, whole: Path, tmp_path: Path) -> None:
    out = tmp_path / "ray.json"
    process = start(out, *IDS, address=cluster.address)
    assert process.stdout is not None
    assert "verified" in process.stdout.readline()
    cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)
    _, errors = process.communicate(timeout=250)
    assert process.returncode == 0, errors
    assert out.read_bytes() == whole.read_bytes()


def test_an_address_where_nothing_answers(tmp_path: Path) -> None:
    process = start(tmp_path / "ray.json", "GB0066", address="127.0.0.1:1")
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 2
    assert errors == "RAY_ADDRESS is 127.0.0.1:1, where nothing answers; unset it to use this machine\n"


def test_a_run_is_of_one_environment() -> None:
    here = {"torch": "2.13.0", "python": "3.11", "device_name": "x", "platform": "Linux", "date": "today"}
    _require_same_environment(here, {**here, "date": "tomorrow"})
    with pytest.raises(ClusterUnfit, match=r"one worker has torch 2\.14\.0, another torch 2\.13\.0"):
        _require_same_environment(here, {**here, "torch": "2.14.0"})


@pytest.mark.prove
def test_what_it_starts_by_itself_listens_on_loopback_only_and_ends_with_it(tmp_path: Path) -> None:
    before = set(commands())
    process = start(tmp_path / "ray.json", "GB0066", "GB0109")
    assert process.stdout is not None
    process.stdout.readline()
    ours = {pid for pid in commands() if pid not in before}
    listening = list(addresses(ours))
    assert listening
    assert set(listening) <= {"0100007F", "00000000000000000000000001000000", "0000000000000000FFFF00000100007F"}
    _, errors = process.communicate(timeout=100)
    assert process.returncode == 0, errors
    deadline = time.monotonic() + 30
    while left := [pid for pid, command in commands().items() if pid in ours and "ray" in command]:
        assert time.monotonic() < deadline, left
        time.sleep(0.2)


def addresses(pids: set[int]) -> Iterator[str]:
    """The addresses on which these processes listen, as the kernel writes them."""
    sockets = set()
    for pid in pids:
        for descriptor in Path(f"/proc/{pid}/fd").glob("*"):
            try:
                sockets.add(str(descriptor.readlink()))
            except OSError:
                continue
    for table in ("tcp", "tcp6"):
        for row in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            columns = row.split()
            if columns[3] == "0A" and f"socket:[{columns[9]}]" in sockets:
                yield columns[1].partition(":")[0]
