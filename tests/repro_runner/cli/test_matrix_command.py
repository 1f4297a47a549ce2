"""`graphbreak matrix` and `graphbreak explain --against`: other releases of torch.

The environment of torch 2.13.0 is a second path to the interpreter of the tests, and the wheel of torch 2.99.0 leads to
its torch: nothing is downloaded.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import pytest

from registry.datafile import DATA
from repro_runner.cli import main
from repro_runner.torch_environments import PACKAGES
from tests.conftest import ROOT
from tests.repro_runner.test_torch_environments import write_wheel
from tests.workflows.repository import write_program

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
PROGRAM = """
import torch

@torch.compile(backend="eager")
def f(x):
    print("seen")
    return x + 1

f(torch.ones(2))
"""

# The torch of the tests as if it were 2.99.0, without a name that `graphbreak explain` needs. What comes with it is
# found after what the environment itself has.
NEXT_TORCH = """
import sys
packages = {packages!r}
sys.path.insert(0, packages)
del sys.modules["torch"]
import torch
sys.path.remove(packages)
sys.path.append(packages)
torch.__version__ = "2.99.0"
import torch._dynamo.convert_frame
del torch._dynamo.convert_frame.register_bytecode_hook
"""


@pytest.fixture
def second_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kept environment of torch 2.13.0, and no index from which pip could make another."""
    folder = tmp_path / "cache" / f"torch-2.13.0-python-{PYTHON}"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(sys.executable)
    for name in ("lib", "pyvenv.cfg"):
        (folder / name).symlink_to(Path(sys.prefix) / name)
    (folder / "ready").touch()
    monkeypatch.setenv("GRAPHBREAK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")


def record(path: Path, program: str) -> object:
    return json.loads(path.read_text("utf-8"))["records"][program]["runs"]["eager"]


@dataclass(frozen=True)
class Checkout:
    """A copy of this project to which torch 2.99.0 was pulled, and an index that has its wheel."""

    folder: Path

    @property
    def second_python(self) -> Path:
        """Another path to the interpreter of the tests."""
        return self.folder / "second-python"

    def graphbreak(self, *words: str) -> subprocess.CompletedProcess[str]:
        own = {"PYTHONPATH": self.folder, "GRAPHBREAK_CACHE": self.folder / "cache", "PIP_FIND_LINKS": self.folder}
        environment = os.environ | {name: str(path) for name, path in own.items()} | {"PIP_NO_INDEX": "1"}
        command = [sys.executable, "-m", "repro_runner", *words]
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)

    def matrix(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.graphbreak("matrix", "GB0066", "--python", str(self.second_python), *words)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    folder = tmp_path_factory.mktemp("checkout")
    for package in ("registry", "repro_runner"):
        shutil.copytree(ROOT / package, folder / package)
    releases = folder / "registry" / "releases"
    pulled = json.loads((releases / "2.15.0.json").read_text("utf-8")) | {"torch": "2.99.0"}
    (releases / "2.99.0.json").write_text(json.dumps(pulled), "utf-8")
    write_wheel(folder, "torch", "2.99.0", NEXT_TORCH.format(packages=sysconfig.get_path("purelib")))
    for package in PACKAGES:
        write_wheel(folder, package, "1.0")
    checkout = Checkout(folder)
    checkout.second_python.symlink_to(sys.executable)
    return checkout


@pytest.fixture(scope="module")
def ran(checkout: Checkout) -> subprocess.CompletedProcess[str]:
    """torch 2.98.0, of which there is no wheel, and 2.99.0."""
    return checkout.matrix("--torch", "2.98.0", "2.99.0", "--keep")


@pytest.mark.prove
@pytest.mark.torch
@pytest.mark.slow
def test_a_release_that_fails_does_not_stop_the_others(ran: subprocess.CompletedProcess[str]) -> None:
    assert ran.returncode == 2
    assert "\ntorch 2.98.0: there is no such release for this Python; there are 2.99.0\n" in ran.stderr
    assert ran.stdout.splitlines()[-2:] == [
        "2.98.0  not run",
        "2.99.0  eager    1         0           0        0         0       0",
    ]


@pytest.mark.prove
@pytest.mark.torch
@pytest.mark.slow
def test_a_new_release_needs_no_code(checkout: Checkout, ran: subprocess.CompletedProcess[str]) -> None:
    assert "\ndoctor: this torch lacks torch._dynamo.convert_frame.register_bytecode_hook\n" in ran.stderr
    found = record(checkout.folder / "registry" / "evidence" / "torch-2.99.0-cpu.json", "GB0066")
    assert found == record(DATA / "evidence" / "torch-2.13.0-cpu.json", "GB0066")
    # What `generate_site.py` merges, too.
    counts = json.loads(checkout.graphbreak("status", "--json").stdout)
    assert (counts["torch"], counts["verified"]) == ("2.99.0", 1), "it is the newest, and so the default"


@pytest.mark.prove
@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.usefixtures("ran")
def test_an_environment_is_made_by_the_interpreter_that_is_named_and_kept_and_nothing_is_run_twice(
    checkout: Checkout,
) -> None:
    [environment] = (checkout.folder / "cache").iterdir()
    made = (environment / "pyvenv.cfg").read_text("utf-8").splitlines()
    assert f"home = {checkout.second_python.parent}" in made
    again = checkout.matrix("--torch", "2.99.0", "--resume")
    assert again.returncode == 0, again.stderr
    assert "nothing to run; torch-2.99.0-cpu.json" in again.stderr
    assert (environment / "ready").exists(), "an environment that was kept stays"


@pytest.mark.prove
@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.usefixtures("second_path")
def test_an_interruption_keeps_what_was_finished(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "repro_runner", "matrix", "--torch", "2.13.0", "--out", str(tmp_path)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert "eager" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted; --resume goes on from here\n" in errors
    assert "Traceback" not in errors
    assert json.loads((tmp_path / "torch-2.13.0-cpu.json").read_text("utf-8"))["records"]


@pytest.mark.prove
@pytest.mark.torch
@pytest.mark.slow
def test_the_torch_that_is_installed_needs_no_environment(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHBREAK_CACHE", str(tmp_path / "cache"))
    assert main(["matrix", "GB0066", "--here", "--backend", "mock", "--out", str(tmp_path)]) == 0
    assert "2.13.0  mock     1" in capfd.readouterr().out
    assert not (tmp_path / "cache").exists()


def test_a_release_on_which_nothing_runs_is_not_taken_for_done(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / f"torch-2.98.0-python-{PYTHON}"
    write_program(folder / "bin" / "python", "echo 'this torch has no torch._dynamo' >&2", "exit 1")
    (folder / "ready").touch()
    monkeypatch.setenv("GRAPHBREAK_CACHE", str(tmp_path))
    assert main(["matrix", "--torch", "2.98.0", "--out", str(tmp_path)]) == 2
    assert capfd.readouterr().err.splitlines()[-2:] == [
        "this torch has no torch._dynamo",
        "torch 2.98.0: no program was run; the lines above say why",
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["matrix", "--torch", "2.13.0", "--here"], "not allowed with argument"),
        (["matrix", "--out", "/nowhere", "--torch", "2.13.0"], "no such folder; make it, or name another file"),
        (
            ["explain", "--against", "2.13.0", "--fix", "--save", "x.json", __file__],
            "--fix: does not go with --against",
        ),
        (["explain", "--against", "newest", __file__], "torch newest: not a release; name one such as 2.15.0\n"),
    ],
)
def test_what_can_not_be_done_is_told_before_anything_runs(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHBREAK_CACHE", str(tmp_path))
    try:
        code = main(words)
    except SystemExit as ended:  # argparse's own
        code = int(str(ended.code))
    assert code == 2
    assert said in capsys.readouterr().err


@pytest.mark.prove
@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.usefixtures("second_path")
def test_a_script_is_compared_with_another_release(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(PROGRAM, "utf-8")
    assert main(["explain", "--against", "2.13.0", "--format", "json", "train.py"]) == 0
    out, errors = capfd.readouterr()
    document = json.loads(out)
    assert document["gone"] == document["new"] == []
    assert errors.count("seen\n") == 2, "the program runs with both, and its output is not on standard output"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "train.py"]
