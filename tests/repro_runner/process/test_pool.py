"""Children: each within its limits, each end in words, nothing left behind. No torch is needed for any of it."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from repro_runner.process import Ended, Job, Limits, Pool, PoolDied, Service, run_command
from tests.conftest import ROOT
from tests.processes import eventually

pytestmark = pytest.mark.slow

TASKS = "tests.repro_runner.process.tasks"


def run(task: str, arguments: dict[str, Any], *, job: dict[str, Any] | None = None, **service: Any) -> Ended:
    with Pool(Service(task=f"{TASKS}:{task}", **service)) as pool:
        return pool.run(Job(key="one", arguments=arguments, **(job or {})))


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return state != "Z"


def gone(pid: int) -> bool:
    """Killed processes end, though not in the same instant."""
    return eventually(lambda: not alive(pid), 10)


@pytest.mark.parametrize("isolate", ["fork", "process"])
def test_a_child_has_a_folder_and_a_group_of_its_own_and_nothing_to_read(isolate: str) -> None:
    ended = run("describe", {"x": [1, None]}, isolate=isolate, warm_up=f"{TASKS}:warm_up", warm_up_arguments=("a", "b"))
    assert (ended.key, ended.failure) == ("one", "")
    seen = ended.result
    assert seen is not None
    assert (seen["arguments"], seen["stdin"], seen["group"]) == ({"x": [1, None]}, "", True)
    assert seen["folder"] == seen["cwd"] != str(Path.cwd())
    assert not Path(seen["folder"]).exists()
    assert seen["warmed"] == (["a", "b"] if isolate == "fork" else [])


@pytest.mark.parametrize("isolate", ["fork", "process"])
def test_a_job_that_names_a_folder_stays_where_the_command_is_and_leaves_its_files(
    isolate: str, tmp_path: Path
) -> None:
    ended = run("describe", {}, isolate=isolate, job={"folder": str(tmp_path)})
    assert ended.result is not None
    assert (ended.result["folder"], ended.result["cwd"]) == (str(tmp_path), str(Path.cwd()))
    assert (tmp_path / "result.json").is_file()


def test_the_result_of_an_earlier_job_in_the_same_folder_is_not_taken_for_the_next(tmp_path: Path) -> None:
    folder = {"folder": str(tmp_path)}
    assert run("describe", {}, job=folder).result is not None
    ended = run("misbehave", {"how": "leaves"}, job=folder)
    assert (ended.result, ended.failure) == (None, "ended with exit code 7 before it was done")


def test_a_module_in_the_current_folder_is_not_taken_for_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit(9)\n", "utf-8")
    (tmp_path / "repro_runner.py").write_text("raise SystemExit(9)\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    for isolate in ("fork", "process"):
        assert run("describe", {}, isolate=isolate).failure == ""


def test_streams_come_joined_or_apart() -> None:
    words = {"out": "to stdout", "err": "to stderr"}
    joined = run("speak", words)
    assert (joined.stdout.text, joined.stderr.text) == ("to stdout\nto stderr\n", "")
    apart = run("speak", words, streams="apart")
    assert (apart.stdout.text, apart.stderr.text) == ("to stdout\n", "to stderr\n")
    assert apart.stderr.last_line == "to stderr"


@pytest.mark.parametrize("isolate", ["fork", "process"])
def test_a_job_may_name_a_task_of_its_own(isolate: str) -> None:
    ended = run("misbehave", {"out": "a", "err": "b"}, job={"task": f"{TASKS}:speak"}, isolate=isolate)
    assert (ended.failure, ended.stdout.text) == ("", "a\nb\n")


def test_inherited_streams_go_to_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    ended = run("speak", {"out": "to stdout", "err": "to stderr"}, streams="inherited")
    assert ended.stdout.text == ""
    assert capfd.readouterr() == ("", "to stdout\nto stderr\n")


def test_bytes_that_are_no_text_come_through_and_of_long_output_a_digest() -> None:
    content = bytes(range(256)) * 4
    assert run("raw", {"bytes": list(content)}).stdout.start == content
    cut = run("raw", {"bytes": list(content)}, limits=Limits(output=100)).stdout
    assert cut.start == content[:100]
    assert cut.rest_sha256 == hashlib.sha256(content[100:]).hexdigest()


@pytest.mark.parametrize("isolate", ["fork", "process"])
@pytest.mark.parametrize(
    ("how", "failure"),
    [
        ("hangs", "took longer than 1.5 s"),
        ("segfaults", "was killed by SIGSEGV"),
        ("leaves", "ended with exit code 7 before it was done"),
        ("raises", "ended with exit code 1 before it was done"),
        ("grows", "used more than 0.25 GiB of memory"),
        ("has a child that grows", "used more than 0.25 GiB of memory"),
    ],
)
def test_each_bad_end_has_its_words(how: str, failure: str, isolate: str) -> None:
    seconds = 1.5 if how == "hangs" else 60.0
    ended = run("misbehave", {"how": how}, isolate=isolate, job={"seconds": seconds}, limits=Limits(memory=2**28))
    assert (ended.result, ended.failure) == (None, failure)
    assert ("not today" in ended.stdout.text) == (how == "raises")


@pytest.mark.parametrize("isolate", ["fork", "process"])
def test_a_child_that_closes_its_output_ends_as_others_do(isolate: str) -> None:
    ended = run("misbehave", {"how": "closes its output"}, isolate=isolate, streams="apart")
    assert (ended.result, ended.stderr.text) == ({}, "")


def test_what_a_child_leaves_behind_is_killed(tmp_path: Path) -> None:
    ended = run("misbehave", {"how": "leaves a child"}, job={"folder": str(tmp_path)})
    assert ended.result == {}
    assert gone(int((tmp_path / "child").read_text("utf-8")))


def test_many_jobs_run_a_few_at_a_time_and_each_start_is_told() -> None:
    started: list[str] = []
    with Pool(Service(task=f"{TASKS}:describe", slots=2)) as pool:
        ended = list(pool.run_all([Job(key=str(number), arguments={}) for number in range(6)], started.append))
    assert started == ["0", "1", "2", "3", "4", "5"]
    assert sorted(one.key for one in ended) == started
    assert len({one.result["parent"] for one in ended if one.result}) == 1


def test_a_pool_that_can_not_begin_says_so(capfd: pytest.CaptureFixture[str]) -> None:
    with (
        Pool(Service(task=f"{TASKS}:describe", warm_up=f"{TASKS}:not_there")) as pool,
        pytest.raises(PoolDied, match=r"AttributeError.* has no attribute 'not_there'"),
    ):
        pool.run(Job(key="one", arguments={}))
    assert "not_there" in capfd.readouterr().err


HOLD = """
import sys, time
from repro_runner.process import Job, Pool, Service
with Pool(Service(task="tests.repro_runner.process.tasks:misbehave")) as pool:
    pool.submit(Job(key="one", arguments={"how": "hangs"}))
    for _ in pool.results(lambda key: print(pool._process.pid, flush=True)):
        pass
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_children_end_with_the_command_however_that_ends(number: signal.Signals) -> None:
    command = subprocess.Popen(
        [sys.executable, "-c", HOLD],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert command.stdout is not None
    with command:
        pool = int(command.stdout.readline())
        (child,) = Path(f"/proc/{pool}/task/{pool}/children").read_text().split()
        command.send_signal(number)
        command.wait(30)
    assert gone(pool)
    assert gone(int(child))


def test_a_command_gives_its_code_and_its_words(tmp_path: Path) -> None:
    script = "import os, sys; print(os.getcwd()); print('oh', file=sys.stderr); sys.exit(5)"
    ended = run_command([sys.executable, "-c", script], seconds=60, folder=tmp_path)
    assert (ended.result, ended.failure) == ({"code": 5}, "")
    assert (ended.stdout.text, ended.stderr.text) == (f"{tmp_path}\n", "oh\n")


def test_a_command_past_its_time_ends_with_what_it_started(tmp_path: Path) -> None:
    script = f"""
import pathlib, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
pathlib.Path({str(tmp_path / "pid")!r}).write_text(str(child.pid))
time.sleep(1000)
"""
    ended = run_command([sys.executable, "-c", script], seconds=2)
    assert (ended.result, ended.failure) == (None, "took longer than 2 s")
    assert gone(int((tmp_path / "pid").read_text("utf-8")))


def test_a_command_that_is_killed_names_the_signal() -> None:
    ended = run_command([sys.executable, "-c", "import os; os.abort()"], seconds=60)
    assert (ended.result, ended.failure) == (None, "was killed by SIGABRT")


IN_FORK = """
import os, sys
sys.path.insert(0, {root!r})
from repro_runner.process import in_fork
seen = []
def work():
    seen.append(1)
    {how}
    return b"done" * 100_000
print(len(in_fork(work)), seen)
"""


@pytest.mark.parametrize(
    ("how", "end"),
    [
        (
            "os.fork() or [os.close(1), os.close(2), os.execvp('sleep', ['sleep', '30'])]",
            ({"code": 0}, "", "400000 []\n"),
        ),
        ("os._exit(7)", ({"code": 7}, "", "")),
        ("1 / 0", ({"code": 1}, "", "")),
        ("os.abort()", (None, "was killed by SIGABRT", "")),
    ],
    ids=["leaves a process behind", "leaves", "raises", "dies"],
)
def test_a_fork_keeps_its_changes_and_ends_its_parent_if_it_ends_badly(how: str, end: tuple[Any, ...]) -> None:
    command = [sys.executable, "-c", IN_FORK.format(root=str(ROOT), how=how)]
    ended = run_command(command, seconds=20)
    assert (ended.result, ended.failure, ended.stdout.text) == end
