"""What a program does beside its result is seen, and what torch does for itself is not."""

from __future__ import annotations

import contextlib
import decimal
import functools
import logging
import math
import os
import random
import socket
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from repro_runner.judge import ERR, EVENTS, OUT, RECORDS, WARNINGS
from repro_runner.judge.recording import Calls
from repro_runner.judge.surroundings import Integrity, files_below, modes, random_states, watched

pytestmark = [pytest.mark.torch]


@contextlib.contextmanager
def as_in_a_child() -> Iterator[None]:
    """Python's streams write to 1 and 2. Those of pytest write somewhere else."""
    out, err = (os.fdopen(number, "w", closefd=False) for number in (1, 2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        yield
        out.flush()


def seen(work: Callable[[], object]) -> dict[str, Any]:
    """By aspect, without those in which nothing was seen."""
    with as_in_a_child(), watched() as effects:
        work()
    return {aspect: found for aspect, found in effects.flat().items() if any(found.values())}


def warn(text: str = "rows were padded") -> None:
    warnings.warn(text, UserWarning, stacklevel=1)


def log_an_error() -> None:
    try:
        raise KeyError("x")
    except KeyError:
        logging.getLogger("own").debug("at %d", 3, exc_info=True)


@pytest.mark.parametrize(
    ("work", "aspect", "said"),
    [
        (lambda: print("hello"), OUT, "hello\n"),
        (lambda: os.write(1, b"past Python"), OUT, "past Python"),
        (lambda: sys.stderr.write("..."), ERR, "..."),
        (lambda: subprocess.run(["echo", "child"], check=True), OUT, "child\n"),
        (lambda: logging.getLogger("own").debug("at %d", 3), RECORDS, "DEBUG own: at 3"),
        (log_an_error, RECORDS, "DEBUG own: at 3 (KeyError)"),
        (warn, WARNINGS, "UserWarning: rows were padded"),
        (lambda: list(map(warn, ["one", "one"])), WARNINGS, 2),
        (lambda: warnings.simplefilter("ignore"), WARNINGS, "other filters of warnings"),
        (lambda: warnings.filterwarnings("ignore", module="torch"), WARNINGS, "other filters of warnings"),
        (lambda: Path("a.txt").write_text("x"), EVENTS, "opens a.txt for writing"),
        (lambda: Path("a.txt").write_text("x"), EVENTS, "a.txt holds 1 bytes, sha256 2d711642b726b044"),
        (lambda: os.close(os.open("b.txt", os.O_WRONLY | os.O_CREAT)), EVENTS, "opens b.txt for writing"),
        (lambda: Path("folder").mkdir(), EVENTS, "os.mkdir folder, 511"),
        (lambda: os.truncate("there.txt", 1), EVENTS, "os.truncate there.txt, 1"),
        (lambda: os.utime("there.txt", (1, 1)), EVENTS, "os.utime there.txt, (1, 1)"),
        (lambda: Path("there.txt").rename("c.txt"), EVENTS, "os.rename there.txt, c.txt"),
        (lambda: Path("there.txt").unlink(), EVENTS, None),
        (lambda: subprocess.run(["true"], check=True), EVENTS, None),
        (lambda: os.system("true"), EVENTS, "os.system true"),
    ],
)
def test_it_is_seen(
    work: Callable[[], object], aspect: str, said: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.txt").write_text("there")
    found = seen(work)
    assert aspect in found
    assert said is None or said in found[aspect].values()


def test_a_datagram_and_a_connection_are_seen() -> None:
    def send() -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
            end.sendto(b"x", ("127.0.0.1", 9))

    def listen() -> None:
        with socket.socket() as end:
            end.bind(("127.0.0.1", 0))

    assert "socket.sendto" in seen(send)[EVENTS]["event 1"]
    assert "socket.bind" in seen(listen)[EVENTS]["event 1"]


def test_what_only_reads_or_computes_or_is_torchs_own_is_not_seen(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")

    def work() -> None:
        (tmp_path / "a.txt").read_text()
        torch.save(torch.ones(2), tmp_path / "tensor.pt")
        torch.ones(3).softmax(0)
        logging.getLogger("torch._dynamo").warning("torch's own")

    assert seen(work).keys() <= {ERR}


def test_streams_levels_and_filters_are_afterwards_what_they_were(capfd: pytest.CaptureFixture[str]) -> None:
    level, filters = logging.root.level, list(warnings.filters)
    with as_in_a_child():
        with watched():
            print("caught")
        print("not caught")
    assert (logging.root.level, warnings.filters) == (level, filters)
    assert capfd.readouterr().out == "not caught\n"


def test_a_closed_stream_ends_nothing() -> None:
    def close() -> None:
        sys.stdout.flush()
        os.close(1)

    assert seen(close) == {}
    assert seen(lambda: os.write(1, b"open again")) == {OUT: {OUT: "open again"}}


@pytest.mark.parametrize(
    ("change", "undo"),
    [
        (lambda: torch.set_grad_enabled(False), lambda: torch.set_grad_enabled(True)),
        (lambda: torch.set_default_dtype(torch.float64), lambda: torch.set_default_dtype(torch.float32)),
        (lambda: torch.set_autocast_enabled("cpu", True), lambda: torch.set_autocast_enabled("cpu", False)),
        (lambda: torch.use_deterministic_algorithms(True), lambda: torch.use_deterministic_algorithms(False)),
        (lambda: torch.set_num_threads(torch.get_num_threads() + 1), lambda: torch.set_num_threads(1)),
        (lambda: sys.setrecursionlimit(5000), lambda: sys.setrecursionlimit(1000)),
        (lambda: os.environ.update(OWN="1"), lambda: os.environ.pop("OWN")),
        (lambda: logging.disable(logging.INFO), lambda: logging.disable(logging.NOTSET)),
        (lambda: torch.autograd.set_detect_anomaly(True), lambda: torch.autograd.set_detect_anomaly(False)),
        (
            functools.partial(torch.set_printoptions, precision=2),
            functools.partial(torch.set_printoptions, precision=4),
        ),
        (lambda: np.seterr(all="ignore"), lambda: np.seterr(over="warn", divide="warn", invalid="warn")),
        (lambda: np.set_printoptions(precision=2), lambda: np.set_printoptions(precision=8)),
        (lambda: setattr(decimal.getcontext(), "prec", 5), lambda: setattr(decimal.getcontext(), "prec", 28)),
    ],
)
def test_a_mode_that_stays_on_is_seen(change: Callable[[], object], undo: Callable[[], object]) -> None:
    before = modes()
    change()
    try:
        assert modes() != before
    finally:
        undo()


@pytest.mark.parametrize("draw", [random.random, lambda: torch.rand(1), lambda: np.random.rand()])
def test_a_random_number_that_was_drawn_is_seen(draw: Callable[[], object]) -> None:
    before = random_states()
    assert random_states() == before
    draw()
    assert random_states() != before


def test_files_are_compared_by_content(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "a.txt").write_text("one")
    before = files_below(tmp_path)
    assert list(before) == ["inner/a.txt"]
    (tmp_path / "inner" / "a.txt").write_text("two")
    assert files_below(tmp_path) != before
    assert files_below(tmp_path, lambda path: path.name == "a.txt") == {}


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (torch, "where"),
        (torch, "compile"),
        (torch.Tensor, "tolist"),
        (torch.nn.ReLU, "forward"),
        (torch.nn.functional, "softmax"),
        (torch.testing, "assert_close"),
        (np, "where"),
        (math, "pi"),
        (Calls, "_make"),
    ],
)
def test_a_replaced_part_of_torch_of_python_or_of_the_judge_is_seen(
    owner: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    integrity = Integrity()  # not in a fixture: pytest listens to warnings in another way there
    assert integrity.broken() == {}
    monkeypatch.setattr(owner, name, lambda *_: None)
    assert [path for path in integrity.broken() if path.endswith(f".{name}")]


def test_a_method_that_hides_an_inherited_one_other_code_and_other_defaults_are_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    integrity = Integrity()
    with monkeypatch.context() as patch:
        patch.setattr(torch.Tensor, "__add__", lambda *_: None, raising=False)
        assert "torch.Tensor.__add__" in integrity.broken()
    softmax = torch.nn.functional.softmax
    with monkeypatch.context() as patch:
        patch.setattr(softmax, "__defaults__", (1, 3, None))
        assert list(integrity.broken()) == ["torch.nn.functional.softmax"]
    with monkeypatch.context() as patch:
        patch.setattr(softmax, "__code__", softmax.__code__.replace(co_name="other"))
        assert list(integrity.broken()) == ["torch.nn.functional.softmax"]
    assert integrity.broken() == {}


def test_a_changed_setting_of_the_compiler_is_seen() -> None:
    integrity = Integrity()
    with torch._dynamo.config.patch(suppress_errors=True):
        assert integrity.broken() == {"torch._dynamo.config.suppress_errors": ("is", "set to True")}
    assert integrity.broken() == {}
