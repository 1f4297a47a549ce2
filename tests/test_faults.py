"""What can go wrong outside: upstream, the disk, `kill -9`. Nothing is lost, one clear line, the right exit code."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from registry.model import Revision
from registry.notes import digest, front_matter_value
from registry.snapshot import read_snapshot
from tests.checkout import (
    ROOT,
    TEMPORARY,
    Finished,
    Registered,
    files,
    generate_here,
    in_block,
    make_bare_checkout,
    make_checkout,
    make_wordings,
    mounted_read_only,
    obeying_mode_bits,
    on_small_disk,
    page_of,
    registry_json,
    reworded,
    run_generate,
    temporary_files,
    unchanged,
    upstream_sending,
    without,
    write_note,
    write_pages,
)
from tests.loopback import Answer, Exchange, serve
from tests.scheduling import sampled

pytestmark = pytest.mark.slow

WORDINGS = make_wordings()
REWORDED = registry_json(reworded(WORDINGS))


@pytest.fixture(scope="module")
def with_note(tmp_path_factory: pytest.TempPathFactory) -> Path:
    checkout = make_checkout(tmp_path_factory.mktemp("made") / "checkout")
    write_note(page_of(checkout, "GB0003"), b"my note\r\n")
    return write_pages(checkout)


@pytest.fixture
def checkout(tmp_path: Path, with_note: Path) -> Path:
    return shutil.copytree(with_note, tmp_path / "checkout")


# Upstream


def sending(status: int = 200, body: bytes = b"", **headers: str) -> Answer:
    return lambda exchange: exchange.send(status, body, headers)


def redirect_to_itself(exchange: Exchange) -> None:
    exchange.send(302, headers={"Location": exchange.path})


def break_off(exchange: Exchange) -> None:
    exchange.send(200, REWORDED[:500], {"Content-Length": str(len(REWORDED))})


UNREACHED: dict[str, tuple[Answer, str]] = {
    "404": (sending(404, b"404: Not Found"), "answered 404 Not Found"),
    "403 with a page": (sending(403, b"<html>blocked</html>"), "answered 403 Forbidden"),
    "a 304 that nobody asked for": (sending(304), "answered 304 Not Modified"),
    "a redirect loop": (redirect_to_itself, "redirects in a loop"),
    "a body cut short": (break_off, "the answer was cut short"),
    "a gzip bomb": (
        sending(200, gzip.compress(bytes(200_000_000), 1), **{"Content-Encoding": "gzip"}),
        "more than 67,108,864 bytes, given up",
    ),
    "broken gzip": (sending(200, b"no gzip", **{"Content-Encoding": "gzip"}), "the answer's compression is broken"),
}


def assert_snapshot_stood_in(done: Finished, words: str) -> None:
    assert done.code == 0
    assert "12 ids upstream; nothing changed, nothing rendered" in done.stdout
    first, second = done.stderr.splitlines()
    assert re.fullmatch(rf"WARNING: upstream was not reached \(http://127\.0\.0\.1:\d+/?: {re.escape(words)}\);", first)
    assert second == "WARNING: using the snapshot: release:2.15.0 of 2026-01-02"


def assert_not_fresh(done: Finished, words: str) -> None:
    assert (done.code, done.stdout) == (3, "")
    assert words in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("fault", UNREACHED)
def test_an_upstream_that_does_not_answer_as_it_should_changes_no_file(checkout: Path, fault: str) -> None:
    answer, words = UNREACHED[fault]
    with serve(answer) as server, unchanged(checkout):
        assert_snapshot_stood_in(generate_here(checkout, upstream=server.url), words)
        assert_not_fresh(generate_here(checkout, "--require-fresh", upstream=server.url), words)


def test_a_refused_connection_changes_no_file(checkout: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        with unchanged(checkout), ThreadPoolExecutor(2) as pool:
            plain = pool.submit(run_generate, checkout, upstream=url)
            strict = pool.submit(run_generate, checkout, "--require-fresh", upstream=url)
            assert_snapshot_stood_in(plain.result(), "connection refused")
            assert_not_fresh(strict.result(), "connection refused")


IMPATIENT = """
import sys, registry.sources
from registry.http import Patience
registry.sources.pull.__kwdefaults__["patience"] = Patience(read=0.2)
import generate_site
sys.exit(generate_site.main())
"""


@pytest.mark.slow
def test_a_server_that_never_answers_changes_no_file(checkout: Path) -> None:
    """With less patience than users have: 15 seconds for each of three answers."""
    with serve(Exchange.hang) as server, unchanged(checkout):
        done = run_generate(checkout, upstream=server.url, python=(sys.executable, "-c", IMPATIENT))
    assert_snapshot_stood_in(done, "no answer in time")


@pytest.mark.slow
def test_a_network_that_swallows_packets_changes_no_file_and_costs_5_seconds(checkout: Path) -> None:
    with ExitStack() as stack:
        server = stack.enter_context(socket.socket())
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        for _ in range(4):  # nobody accepts: once the queue is full, the kernel drops what arrives
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(server.getsockname())
        started = time.monotonic()
        with unchanged(checkout):
            done = run_generate(checkout, upstream=f"http://127.0.0.1:{server.getsockname()[1]}")
        assert_snapshot_stood_in(done, "no connection within 4 s")
        assert time.monotonic() - started < 8


def change_all(change: Callable[[dict[str, Any]], dict[str, Any]]) -> bytes:
    """The registry with every revision changed."""
    document = json.loads(registry_json(WORDINGS))
    return json.dumps({gb_id: [change(one) for one in found] for gb_id, found in document.items()}).encode()


def rename_hints(revision: dict[str, Any]) -> dict[str, Any]:
    return {"Advice" if key == "Hints" else key: value for key, value in revision.items()}


INVALID: dict[str, tuple[bytes, int, str]] = {
    "nothing at all": (b"", 1, "empty, not JSON"),
    "truncated JSON": (REWORDED[: len(REWORDED) // 2], 1, "not JSON: line .*it looks cut short"),
    "HTML": (b"\n<!DOCTYPE html><html><body>Sign in</body></html>", 1, "HTML, not JSON"),
    "{}": (b"{}", 1, r"\$: an empty object"),
    "[]": (b"[]", 1, r"\$: an array; it has to be an object"),
    "null": (b"null", 1, r"\$: null; it has to be an object"),
    "90 % of the ids gone": (
        registry_json({gb_id: found for gb_id, found in WORDINGS.items() if gb_id == "GB0001"}),
        1,
        r"11 of the 12 ids in the snapshot are gone \(GB0002, GB0003, GB0004, …\); .* --accept-shrink",
    ),
    "2 of 12 gone": (registry_json(without(WORDINGS, "GB0001", "GB0002")), 1, "2 of the 12 ids"),
    "a renamed key": (
        change_all(rename_hints),
        12,
        r'\$\.GB0007\[0\]: "Hints" is missing; unknown here: "Advice"\. Was it renamed\?',
    ),
    "lower-case ids": (REWORDED.replace(b"GB00", b"gb00"), 12, r"\$\.gb0007: ids are in upper case: GB0007"),
    "duplicate keys": (REWORDED.replace(b"GB0008", b"GB0007"), 1, r"\$\.GB0007: this key is there twice"),
    "bad UTF-8": (REWORDED.replace(b"reworded", b"\xff"), 1, "not UTF-8: byte 0xff at offset"),
    "a string of absurd size": (
        change_all(lambda revision: {**revision, "Context": "x" * 30_000}),
        12,
        r"\$\.GB0007\[0\]\.Context: 30,000 characters",
    ),
    "hints that are no list": (change_all(lambda revision: {**revision, "Hints": "one"}), 12, "it has to be an array"),
}


@pytest.mark.parametrize("fault", INVALID)
def test_an_answer_that_is_no_registry_is_exit_2_with_every_problem_and_changes_no_file(
    checkout: Path, fault: str
) -> None:
    body, problems, words = INVALID[fault]
    with serve(sending(200, body)) as server, unchanged(checkout):
        done = generate_here(checkout, upstream=server.url)
    assert (done.code, done.stdout) == (2, "")
    *reports, count = done.stderr.splitlines()
    assert len(reports) == problems
    assert all(report.startswith(server.url) for report in reports)
    assert any(re.search(words, report) for report in reports), reports
    assert count == ("1 problem" if problems == 1 else f"{problems} problems")


def test_an_answer_that_is_no_registry_ends_the_process_with_2(checkout: Path) -> None:
    with serve(sending(200, b"<html>")) as server, unchanged(checkout):
        done = run_generate(checkout, "--check", "--source", "upstream", upstream=server.url)
    assert done.code == 2


def test_a_500_and_then_a_200_is_a_pull_like_any_other(checkout: Path) -> None:
    def answer(exchange: Exchange) -> None:
        if len(exchange.loopback.seen) == 1:
            exchange.send(500)
        else:
            exchange.send(200, REWORDED)

    with serve(answer) as server:
        done = run_generate(checkout, "--require-fresh", upstream=server.url)
    assert (done.code, done.stderr) == (0, "")
    assert "12 reworded" in done.stdout
    assert (checkout / "registry" / "snapshot" / "graph_break_registry.json").read_bytes() == REWORDED
    assert in_block(b"my note\r\n") in page_of(checkout, "GB0003").read_bytes()


def test_a_304_is_fresh_and_changes_no_file(checkout: Path) -> None:
    with upstream_sending(REWORDED) as server:
        assert generate_here(checkout, upstream=server.url).code == 0
        with unchanged(checkout):
            done = generate_here(checkout, "--require-fresh", upstream=server.url)
        assert server.sent == len(REWORDED), "sent once"
    assert (done.code, done.stderr) == (0, "")
    assert "nothing changed, nothing rendered" in done.stdout


# Data files


DAMAGED_DATA: dict[str, tuple[str, bytes | None]] = {
    "a snapshot that is cut short": ("registry/snapshot/graph_break_registry.json", REWORDED[:300]),
    "a snapshot that is gone": ("registry/snapshot/graph_break_registry.json", None),
    "an origin that is no object": ("registry/snapshot/origin.json", b"[]"),
    "an empty superseded.json": ("registry/snapshot/superseded.json", b""),
    "a taxonomy that is no YAML": ("registry/taxonomy.yml", b"categories: [\n"),
    "a taxonomy that is not UTF-8": ("registry/taxonomy.yml", b"categories: \xff\n"),
    "a taxonomy that is gone": ("registry/taxonomy.yml", None),
    "a release that is cut short": ("registry/releases/2.15.0.json", b'{"kind": "release",'),
    "a release that is not UTF-8": ("registry/releases/2.15.0.json", b'{"kind": "\xff"}'),
    "a release that is a list": ("registry/releases/2.15.0.json", b"[]"),
    "a newer release file": ("registry/releases/2.15.0.json", b'{"kind": "release", "schema": 99}'),
    "a repro that is no Python": ("registry/repros/GB0001.py", b"def broken(:\n"),
    "a repro that is not UTF-8": ("registry/repros/GB0001.py", b'"""\xff"""\ndef broken():\n    pass\n'),
    "evidence that is no JSON": ("registry/evidence/torch-2.15.0-cpu.json", b"{"),
    "a capture of the wrong kind": ("registry/captured/model.json", b'{"kind": "evidence", "schema": 1}'),
    "a template that is broken": ("templates/index.md.j2", b"{% for %}"),
    "a template that is gone": ("templates/index.md.j2", None),
}


@pytest.mark.parametrize("damage", DAMAGED_DATA)
def test_a_data_file_that_cannot_be_read_is_exit_2_names_it_and_changes_no_file(checkout: Path, damage: str) -> None:
    name, content = DAMAGED_DATA[damage]
    path = checkout / name
    if content is None:
        path.unlink()
    else:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    with serve(sending(200, REWORDED)) as server, unchanged(checkout):
        done = generate_here(checkout, upstream=server.url)
    assert done.code == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert path.name in done.stderr


# Disk


@contextmanager
def read_only_by_mode(folder: Path) -> Iterator[None]:
    folders = [folder, *(path for path in folder.rglob("*") if path.is_dir())]
    for path in folders:
        path.chmod(0o555)
    try:
        yield
    finally:
        for path in folders:
            path.chmod(0o755)


OBEDIENT = (*obeying_mode_bits(), sys.executable, str(ROOT / "generate_site.py"))
READ_ONLY: dict[str, tuple[Callable[[Path], AbstractContextManager[None]], Callable[..., Finished], str]] = {
    "by its mode": (read_only_by_mode, partial(run_generate, python=OBEDIENT), "Permission denied"),
    "as a mount": (mounted_read_only, generate_here, "Read-only file system"),
}


def assert_refused_by_the_disk(checkout: Path, done: Finished, words: str) -> None:
    assert done.code == 4, done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("error: ")
    assert words in done.stderr
    assert "then run again" in done.stderr
    assert temporary_files(checkout) == []


@pytest.mark.parametrize("folder", ["docs", "docs/gb", "registry/snapshot"])
@pytest.mark.parametrize("how", READ_ONLY)
def test_a_read_only_folder_is_exit_4_and_changes_no_file_anywhere(checkout: Path, folder: str, how: str) -> None:
    read_only, generate, words = READ_ONLY[how]
    with upstream_sending(REWORDED) as server, read_only(checkout / folder), unchanged_content(checkout):
        assert_refused_by_the_disk(checkout, generate(checkout, upstream=server.url), words)
    assert generate_here(checkout, "--check").code == 0


@contextmanager
def unchanged_content(checkout: Path) -> Iterator[None]:
    """A temporary file that came and went changes the time of its folder, and that alone."""
    before = files(checkout)
    yield
    assert files(checkout) == before


def test_a_read_only_checkout_with_nothing_to_write_is_no_problem(checkout: Path) -> None:
    with mounted_read_only(checkout), unchanged(checkout):
        assert run_generate(checkout, "--source", "snapshot").code == 0
        assert generate_here(checkout, "--check").code == 0


def no_file_over(limit: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


def test_a_disk_that_takes_no_large_file_is_exit_4_and_changes_no_file(checkout: Path) -> None:
    with upstream_sending(REWORDED) as server, unchanged_content(checkout):
        done = run_generate(checkout, upstream=server.url, before_exec=partial(no_file_over, 1000))
        assert_refused_by_the_disk(checkout, done, "File too large")
    assert generate_here(checkout, "--check").code == 0


def test_a_full_disk_is_exit_4_and_changes_no_file_and_a_larger_one_goes_on(checkout: Path) -> None:
    occupied = sum(-(-len(content) // 4096) * 4 for content in files(checkout / "docs").values())
    with upstream_sending(REWORDED) as server:
        with on_small_disk(checkout / "docs", occupied + 30), unchanged_content(checkout):
            done = run_generate(checkout, upstream=server.url)
            assert_refused_by_the_disk(checkout, done, "No space left on device")
        with on_small_disk(checkout / "docs", 2 * occupied):
            done = run_generate(checkout, upstream=server.url)
            assert (done.code, done.stderr) == (0, "")
            assert generate_here(checkout, "--check").code == 0
            assert in_block(b"my note\r\n") in page_of(checkout, "GB0003").read_bytes()


@pytest.mark.parametrize("obstacle", ["a file", "read-only"])
def test_a_stamp_that_cannot_be_written_spoils_nothing(checkout: Path, obstacle: str) -> None:
    """It saves work, and that is all."""
    cache = checkout / ".cache"
    (cache / "generate-site.json").unlink()
    if obstacle == "a file":
        cache.rmdir()
        cache.touch()
    else:
        cache.chmod(0o555)
    with upstream_sending(REWORDED) as server:
        if obstacle == "a file":
            done = generate_here(checkout, upstream=server.url)
        else:
            done = run_generate(checkout, upstream=server.url, python=OBEDIENT)
    cache.chmod(0o755)
    assert "Traceback" not in done.stderr
    assert done.code == 0
    assert "12 reworded" in done.stdout
    assert generate_here(checkout, "--check").code == 0


@pytest.mark.parametrize(
    "stamp", [b"", b"{", b"[]", b"null", b'{"inputs": 1}', b"\xff", b'{"inputs": "", "outputs": []}']
)
def test_a_damaged_stamp_is_no_stamp(checkout: Path, stamp: bytes) -> None:
    (checkout / ".cache" / "generate-site.json").write_bytes(stamp)
    done = generate_here(checkout, "--source", "snapshot")
    assert (done.code, done.stderr) == (0, "")
    assert "0 files written" in done.stdout


def test_a_file_with_an_odd_name_beside_the_data_is_no_problem(checkout: Path) -> None:
    """In a locale without UTF-8 every name beyond ASCII looks like this one."""
    (checkout / "registry" / os.fsdecode(b"to do \xff.txt")).touch()
    done = generate_here(checkout, "--source", "snapshot")
    assert (done.code, done.stderr) == (0, "")


def test_what_a_killed_run_left_behind_is_cleared_away_once_it_is_old(checkout: Path) -> None:
    gb = checkout / "docs" / "gb"
    for name in (".generate-site-1-GB0001.md.tmp", ".generate-site-2-GB0001.md.tmp"):
        (gb / name).write_bytes(b"half a pa")
    os.utime(gb / ".generate-site-1-GB0001.md.tmp", (0, 0))
    with upstream_sending(REWORDED) as server:
        assert generate_here(checkout, upstream=server.url).code == 0
    assert [path.name for path in temporary_files(checkout)] == [".generate-site-2-GB0001.md.tmp"]


def test_what_a_killed_run_leaves_behind_is_never_committed() -> None:
    names = ["docs/gb/.generate-site-1-GB0001.md.tmp", "registry/snapshot/.generate-site-1-origin.json.tmp"]
    command = ["git", "check-ignore", "--no-index", *names]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.split() == names


# kill -9

KILLS = 240
AT_ONCE = 8
CONTENDERS: tuple[Registered, Registered] = (make_wordings(40), reworded(make_wordings(40)))
KILL_NOTES = {
    "GB0001": b"on the page that every run rewords",
    "GB0003": b"a note\n\n- with a list\n",
    "GB0011": b"windows\r\nline ends\r\n",
    "GB0020": "no final line break, 🔥".encode(),
    "GB0040": b"```html\n<!-- ADDITIONAL INFORMATION END -->\n```\n",
}
ALTERNATING = (*(f"docs/gb/{gb_id}.md" for gb_id in CONTENDERS[0] if gb_id != "GB0001"), "docs/index.md")
"""Files that have one of two texts; the others have something new after every run."""


@dataclass
class Victim:
    """A checkout, an upstream that changes for every run, and a process that forks runs and kills them."""

    checkout: Path
    worker: subprocess.Popen[str]
    url: str
    offered: list[bytes]
    states: dict[bool, dict[str, bytes]] = field(default_factory=dict)
    """The alternating files as either registry gives them."""
    turn: bool = False
    """Which registry is offered."""
    known: set[Path] = field(default_factory=set)
    pulled: set[Revision] = field(default_factory=set)
    """Wordings of GB0001 that were in the snapshot at some time."""
    seen: Counter[str] = field(default_factory=Counter)

    def run(self, moment: str = "never", delay: float = 0.0) -> dict[str, float]:
        """Offer the registry that is not in the snapshot, and run; `moment` and then `delay` seconds, then SIGKILL."""
        self.seen["runs"] += 1
        self.turn = b"reworded" not in self.registry()
        mark = replace(CONTENDERS[self.turn]["GB0001"][0], explanation=f"Seen by run {self.seen['runs']}.")
        self.offered[0] = registry_json({**CONTENDERS[self.turn], "GB0001": (mark,)})
        assert self.worker.stdin
        assert self.worker.stdout
        print(json.dumps([str(self.checkout), self.url, moment, delay]), file=self.worker.stdin, flush=True)
        return dict(json.loads(self.worker.stdout.readline()))

    def registry(self) -> bytes:
        return (self.checkout / "registry" / "snapshot" / "graph_break_registry.json").read_bytes()

    def alternating(self) -> dict[str, bytes]:
        return {name: (self.checkout / name).read_bytes() for name in ALTERNATING}

    def settle(self) -> None:
        """Reach the two states that alternate: each page then has the other's wording among the earlier ones."""
        for _ in range(4):
            assert self.run()["status"] == 0
            self.states[self.turn] = self.alternating()
        self.known = set(self.checkout.rglob("*"))

    def kill(self, moment: str, delay: float) -> dict[str, float]:
        """One run that is to be killed; check what it leaves, and count where the kill landed."""
        registry, before = self.registry(), self.alternating()
        for path in temporary_files(self.checkout):
            path.unlink()
        ended = self.run(moment, delay)
        assert ended["status"] in (0, -signal.SIGKILL)
        self.check_whole(registry)
        after, left = self.alternating(), temporary_files(self.checkout)
        self.seen["killed"] += ended["status"] != 0
        self.seen["temporary files left"] += bool(left)
        self.seen["some pages new, some old"] += before != after != self.states[self.turn]
        return ended

    def check_whole(self, registry_before: bytes) -> None:
        """Every file is the old one or the new one, every note is there byte for byte, and no other file is."""
        for name, content in self.alternating().items():
            assert content in (self.states[False][name], self.states[True][name]), f"{name} is neither old nor new"
        for gb_id, note in KILL_NOTES.items():
            assert in_block(note) in page_of(self.checkout, gb_id).read_bytes()
        page = page_of(self.checkout, "GB0001").read_text("utf-8")
        assert front_matter_value(page, "digest") == digest(page), "this page is not whole"
        assert self.registry() in (registry_before, self.offered[0])
        snapshot = read_snapshot(self.checkout / "registry" / "snapshot")
        self.pulled |= {*snapshot.wordings["GB0001"]}
        assert self.pulled <= {*snapshot.wordings["GB0001"], *snapshot.superseded["GB0001"]}, "a wording was lost"
        assert {path for path in self.checkout.rglob("*") if not TEMPORARY.fullmatch(path.name)} == self.known


@contextmanager
def make_victim(folder: Path) -> Iterator[Victim]:
    checkout = make_bare_checkout(folder, CONTENDERS[0])
    assert run_generate(checkout, "--source", "snapshot").code == 0
    for gb_id, note in KILL_NOTES.items():
        write_note(page_of(checkout, gb_id), note)
    offered = [b""]

    def answer(exchange: Exchange) -> None:
        exchange.send(200, offered[0])

    command = [sys.executable, "-m", "tests.test_faults"]
    with (
        serve(answer) as server,
        subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as worker,
    ):
        yield Victim(checkout, worker, server.url, offered)
        assert worker.stdin
        worker.stdin.close()


def kill_runs(folder: Path, kills: int, seed: int) -> Counter[str]:
    """Kill `kills` runs or more at random moments: over the whole run, and from when it begins to write or to rename.

    Until one of them was killed while files took their places: then some pages are new and some are old.
    """
    choose = random.Random(seed)
    with make_victim(folder) as victim:
        victim.settle()
        usual = victim.run()
        assert usual["status"] == 0
        while victim.seen["killed"] < kills or not victim.seen["some pages new, some old"]:
            assert victim.seen["runs"] < 6 * kills, f"runs end before they are killed: {victim.seen}"
            moment = choose.choice(["started", "staging", "renaming"])
            ended = victim.kill(moment, choose.uniform(0, usual["seconds"] - usual[moment]))
            if ended["status"] == 0:  # the machine is faster than it was
                usual |= ended
        for path in temporary_files(victim.checkout):
            os.utime(path, (0, 0))  # old at once, so that the next run has to clear it away
        assert victim.run()["status"] == 0
        assert victim.alternating() == victim.states[victim.turn]
        assert temporary_files(victim.checkout) == []
        done = run_generate(victim.checkout, "--check")
        assert (done.code, done.stderr) == (0, "")
        victim.seen["ms a run"] = round(usual["seconds"] * 1000)
        return victim.seen


@pytest.mark.parametrize("seed", sampled(KILLS // AT_ONCE, 0))
def test_kill_9_at_any_moment_leaves_every_file_whole_and_the_next_run_mends_the_rest(
    tmp_path: Path, seed: int
) -> None:
    seen = kill_runs(tmp_path / "checkout", AT_ONCE, seed)
    print(dict(seen))  # pytest -rP shows it
    assert seen["killed"] >= AT_ONCE
    assert seen["temporary files left"] >= 1, "too few kills landed while files were written"


def _fork_runs() -> None:
    """Read requests from stdin; for each, fork a run of the command and kill it at the moment named.

    A process of its own, with one thread and everything imported: forked runs then spend their time in the command.
    """
    import generate_site

    for name in ("registry.http", "registry.merge", "registry.evidence", "sitegen.render", "sitegen.write", "requests"):
        __import__(name)
    drawn = False
    for line in sys.stdin:
        root, url, moment, delay = json.loads(line)
        if not drawn:  # the first chart of a process takes a second; forked runs find theirs drawn
            with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
                generate_site.main(["--root", root, "--source", "snapshot", "--diff"])
            drawn = True
        started = time.monotonic()
        pid = os.fork()
        if pid == 0:
            os.environ["GRAPHBREAK_UPSTREAM_URL"] = url
            with (Path(root).parent / f"{Path(root).name}.log").open("a") as log:
                os.dup2(log.fileno(), 1)
                os.dup2(log.fileno(), 2)
            os._exit(generate_site.main(["--root", root]))
        report = _watch(pid, Path(root), started, moment, delay)
        print(json.dumps(report), flush=True)


def _watch(pid: int, root: Path, started: float, moment: str, delay: float) -> dict[str, float]:
    """Follow a run by what it does on the disk; kill it `delay` seconds after the moment named."""
    first = root / "registry" / "snapshot" / "graph_break_registry.json"
    inode = first.stat().st_ino
    before = _temporary_names(root)
    moments = {"started": 0.0}
    while True:
        now = time.monotonic() - started
        if "staging" not in moments and _temporary_names(root) - before:
            moments["staging"] = now
        if "renaming" not in moments and first.stat().st_ino != inode:
            moments["renaming"] = now
        if moment in moments and now >= moments[moment] + delay:
            os.kill(pid, signal.SIGKILL)  # not waited for yet, so the number is still this run's
            moment = "never"
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return {**moments, "seconds": now, "status": os.waitstatus_to_exitcode(status)}
        time.sleep(0.0001)


def _temporary_names(root: Path) -> set[str]:
    return {path.name for path in (root / "registry" / "snapshot").iterdir() if path.suffix == ".tmp"}


if __name__ == "__main__":
    _fork_runs()
