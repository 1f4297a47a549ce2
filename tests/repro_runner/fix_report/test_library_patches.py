"""Breaks in an installed library or another module of the program: patched from the program, never in their files."""

from __future__ import annotations

import ast
import hashlib
import importlib
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from repro_runner.capture.breaks import UserFrame
from repro_runner.explain.site import Site
from repro_runner.fix_report import Children
from repro_runner.fix_report.fixing import find_fixes
from repro_runner.fix_report.patches import FIRST, find_library_patches
from repro_runner.fix_report.patches.arguments import find_arguments
from repro_runner.fix_report.patches.branches import find_random_thresholds
from repro_runner.fix_report.patches.library import find_own_module
from repro_runner.fix_report.patches.patch import Patch, Refusal, Target, apply_patches, line_after
from repro_runner.fix_report.patches.source import Source

pytestmark = pytest.mark.torch

LIBRARY = '''"""A small library. Its names are not those of the program."""

from typing import Optional

import torch

FACTOR = 2.0
Numbers = torch.Tensor


def smooth(x: Numbers, by: "Optional[float]" = FACTOR, *, offset: float = -1.0) -> Numbers:
    """Smooth, in one of two ways."""
    if x.sum() > 0:  # which way
        return x * by
    return x * FACTOR + offset


def make(limit):
    def clipped(x):
        if x.sum() > limit:
            return x + limit
        return x - limit

    return clipped


clipped = make(3.0)


def logged(function):
    def call(x):
        return function(x)

    return call


@logged
def masked(x):
    return x * 2 if x.sum() > 0 else x * 3


def checked(x, scale=1.0, *, strict=True):
    if strict:
        if x.isnan().any():
            raise ValueError("not a number")
    return x * scale


class Base(torch.nn.Module):
    def forward(self, x: Numbers) -> Numbers:
        return x + FACTOR


class Block(Base):
    def __init__(self) -> None:
        super().__init__()
        self.__hidden = torch.nn.Parameter(torch.ones(3))

    def forward(
        self,
        x: Numbers,  # what comes in
    ) -> Numbers:
        x = super().forward(x)
        torch._dynamo.graph_break()
        if x.sum() > 100:
            x = x * 2
        return x * self.__hidden
'''
PROGRAM = """import torch
from small.parts import Block, checked, clipped, masked, smooth

torch.manual_seed(0)
block = Block()


def step(x):
    x = checked(x, 2.0)
    return masked(clipped(block(smooth(x))))


compiled = torch.compile(step, backend="eager")
for _ in range(3):
    out = compiled(torch.randn(3))
    out.sum().backward()
    print(out.tolist(), next(block.parameters()).grad.tolist())
"""
MODULE = """import torch


class Gate(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        score = torch.sigmoid(x)
        if score.mean() > 0.5:
            return x * score
        return x + score


def switched(limit):
    def switch(x):
        return x * 2 if x.sum() > limit else x * 3

    return switch
"""
PROJECT = """import torch
from forecast.model import Gate

torch.manual_seed(0)
compiled = torch.compile(Gate(), backend="eager")
for _ in range(3):
    print(compiled(torch.randn(3)).tolist())
"""


def install(folder: Path, *, version: str = "1.0", text: str = LIBRARY) -> Path:
    """Put the library into a folder as pip does. Returns site-packages."""
    packages = folder / "site-packages"
    about = packages / f"small-{version}.dist-info"
    (packages / "small").mkdir(parents=True)
    about.mkdir()
    (packages / "small" / "__init__.py").write_text("", "utf-8")
    (packages / "small" / "parts.py").write_text(text, "utf-8")
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: small\nVersion: {version}\n", "utf-8")
    (about / "RECORD").write_text("small/__init__.py,,\nsmall/parts.py,,\n", "utf-8")
    return packages


def line_of(part: str, text: str = LIBRARY) -> int:
    assert text.count(part) == 1
    return text[: text.index(part)].count("\n") + 1


def digests(packages: Path) -> dict[str, str]:
    files = [path for path in packages.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@dataclass(frozen=True, kw_only=True)
class Handed:
    folder: Path
    packages: Path
    document: dict[str, Any]
    told: list[str]

    def run(self, script: Path, packages: Path | None = None) -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join(map(str, (packages or self.packages, *sys.path)))
        command = [sys.executable, "-B", str(script)]
        environment = {**os.environ, "PYTHONPATH": path}
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


@pytest.fixture(scope="module")
def handed(tmp_path_factory: pytest.TempPathFactory) -> Handed:
    folder = tmp_path_factory.mktemp("library")
    packages = install(folder)
    script = folder / "train.py"
    script.write_text(PROGRAM, "utf-8")
    before = digests(packages)
    handed = hand_over(folder, packages)
    assert digests(packages) == before
    return handed


def hand_over(folder: Path, packages: Path) -> Handed:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (packages, *sys.path)))}
    command = [sys.executable, "-m", "repro_runner", "explain", "--report", "out", "train.py"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return Handed(
        folder=folder,
        packages=packages,
        document=json.loads((folder / "out" / "handover.json").read_bytes()),
        told=done.stderr.splitlines(),
    )


@pytest.mark.prove
def test_a_function_and_a_method_are_patched_and_what_hides_is_refused_with_the_reason(handed: Handed) -> None:
    fixed = handed.document["fixed"]
    assert (fixed["breaks_before"], fixed["breaks_after"]) == (6, 2)
    assert fixed["outputs"].startswith("equal (of 3 calls of compiled code;")
    titles = sorted(patch["title"] for patch in fixed["patches"])  # what costs most comes first: times decide
    assert titles == [
        "`checked` is called with `strict=False`",
        "patches `small.parts.Block.forward` (small 1.0): the branch on a tensor becomes `torch.where`",
        "patches `small.parts.Block.forward` (small 1.0): the call of `graph_break()` is taken out",
        "patches `small.parts.smooth` (small 1.0): the branch on a tensor becomes `torch.where`",
    ]
    assert f"the fixed program {titles[1].replace('`', '')}" in handed.told
    reasons = {one["where"].rpartition(":")[2]: one["reason"] for one in handed.document["unfixed"]}
    closure, decorated = (str(line_of(part)) for part in ("if x.sum() > limit", "x * 2 if x.sum()"))
    assert reasons == {
        closure: "`clipped` is made inside another function, so it can't be patched by name",
        decorated: "`masked` is decorated with `logged`, and only plain functions are patched in other files",
    }


@pytest.mark.prove
def test_the_fixed_program_runs_prints_the_same_and_says_what_it_patches(handed: Handed) -> None:
    fixed = handed.folder / "out" / "train_fixed.py"
    before, after = handed.run(handed.folder / "train.py"), handed.run(fixed)
    assert after.returncode == 0, after.stderr
    assert after.stdout == before.stdout != ""
    text = fixed.read_text("utf-8")
    assert "# - patches `small.parts.smooth` (small 1.0)" in text
    assert "    x = checked(x, 2.0, strict=False)\n" in text
    assert "def _smooth(x, by = ..., *, offset = -1.0):" in text
    assert "return torch.where(x.sum() > 0, x * by, x * FACTOR + offset)" in text
    assert '    "small.parts", "Block.forward",\n    _Block.forward,\n' in text
    assert text.count('    "small 1.0",\n)\n') == 2
    assert [line for line in text.splitlines() if line.startswith("import torch")] == ["import torch"]


@pytest.mark.prove
def test_the_fixed_program_may_run_twice_in_one_process(handed: Handed) -> None:
    twice = handed.folder / "twice.py"
    fixed = str(handed.folder / "out" / "train_fixed.py")
    twice.write_text(f"import runpy\nrunpy.run_path({fixed!r})\nrunpy.run_path({fixed!r})\n", "utf-8")
    done = handed.run(twice)
    assert done.returncode == 0, done.stderr


OTHERS = {
    "another version": ({"version": "1.1"}, "small 1.1 is installed"),
    "another source": (
        {"text": LIBRARY.replace("x * FACTOR + offset", "x * FACTOR - offset")},
        "its source is not the one that was changed",
    ),
    "no such function": ({"text": LIBRARY.replace("def smooth", "smooth = len\n\n\ndef rough")}, "its source is not"),
}


@pytest.mark.prove
@pytest.mark.parametrize("name", OTHERS)
def test_another_library_than_the_one_that_was_patched_is_refused_in_one_line(
    name: str, handed: Handed, tmp_path: Path
) -> None:
    changed, why = OTHERS[name]
    done = handed.run(handed.folder / "out" / "train_fixed.py", install(tmp_path, **changed))
    assert done.returncode == 1
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    patched, _, said = line.partition(" is patched here for small 1.0, but ")
    assert patched in ("small.parts.smooth", "small.parts.Block.forward")
    assert said.startswith(why)
    assert line.endswith("Install small 1.0, or make this file again: graphbreak explain --report")


@pytest.mark.prove
def test_every_break_in_the_library_has_a_text_for_those_who_write_it(handed: Handed) -> None:
    texts = {path.name: path.read_text("utf-8") for path in (handed.folder / "out" / "issues").iterdir()}
    assert len(texts) == 6
    smooth = texts[f"GB0170_parts_{line_of('if x.sum() > 0:')}.md"]
    assert smooth.startswith("# torch.compile: graph break in `smooth` of small 1.0 (Data-dependent branching)\n")
    assert "- small 1.0\n- torch 2." in smooth
    assert "Detected data-dependent branching" in smooth
    assert "Confirmed: run in a process of its own" in smooth
    assert "--- a/small/parts.py\n+++ b/small/parts.py\n" in smooth
    assert "+    return torch.where(x.sum() > 0, x * by, x * FACTOR + offset)\n" in smooth
    assert "6 breaks before, 2 after. Outputs: equal" in smooth
    closure = texts[f"GB0170_parts_{line_of('if x.sum() > limit')}.md"]
    assert closure.endswith("## Change\n\nNo change that was run removes this break.\n")
    assert not [name for name, text in texts.items() if str(handed.folder) in text]
    report = (handed.folder / "out" / "report.md").read_text("utf-8")
    assert all(f"[issues/{name}](issues/{name})" in report for name in texts)


@pytest.mark.prove
def test_the_diff_of_an_issue_can_be_applied_to_the_library(handed: Handed, tmp_path: Path) -> None:
    diffs = [one["diff"] for one in handed.document["fixed"]["patches"] if one["in_library"]]
    assert len(diffs) == 3
    for number, diff in enumerate(diffs):
        packages = install(tmp_path / str(number))
        subprocess.run(["git", "apply"], cwd=packages, input=diff, text=True, check=True, capture_output=True)
        changed = (packages / "small" / "parts.py").read_text("utf-8")
        assert changed != LIBRARY
        ast.parse(changed)


def target_at(file: str | Path, line: int) -> Target:
    return Target(site=Site(gb_ids=("GB0170",), gb_types=("",), file=str(file), line=line), line=0)


def proposed(packages: Path, *lines: int) -> list[Patch | Refusal]:
    return list(find_library_patches(target_at(packages / "small" / "parts.py", line) for line in lines))


def test_a_library_that_no_distribution_lists_is_not_patched(tmp_path: Path) -> None:
    packages = install(tmp_path)
    (packages / "small-1.0.dist-info" / "RECORD").unlink()
    (one,) = proposed(packages, line_of("if x.sum() > 0:"))
    assert isinstance(one, Refusal)
    assert "no installed distribution lists its file" in one.reason


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Handed:
    """A program of two files. The break is in the one that the other imports. The fixed program is beside them."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "forecast").mkdir()
    (folder / "forecast" / "model.py").write_text(MODULE, "utf-8")
    (folder / "train.py").write_text(PROJECT, "utf-8")
    handed = hand_over(folder, folder)
    assert (folder / "forecast" / "model.py").read_text("utf-8") == MODULE
    shutil.copy(folder / "out" / "train_fixed.py", folder)
    return handed


@pytest.mark.prove
def test_another_module_of_the_program_is_patched_and_the_diff_is_of_its_file(project: Handed, tmp_path: Path) -> None:
    fixed = project.document["fixed"]
    assert (fixed["breaks_before"], fixed["breaks_after"], project.document["unfixed"]) == (1, 0, [])
    assert fixed["outputs"].startswith("equal (of 3 calls of compiled code;")
    (patch,) = fixed["patches"]
    assert patch["title"] == "patches `forecast.model.Gate.forward`: the branch on a tensor becomes `torch.where`"
    assert f"the fixed program {patch['title'].replace('`', '')}" in project.told
    assert not patch["in_library"]
    assert not (project.folder / "out" / "issues").exists()
    shutil.copytree(project.folder / "forecast", tmp_path / "forecast")
    subprocess.run(["git", "apply"], cwd=tmp_path, input=patch["diff"], text=True, check=True, capture_output=True)
    assert "return torch.where(score.mean() > 0.5" in (tmp_path / "forecast" / "model.py").read_text("utf-8")


@pytest.mark.prove
def test_the_fixed_program_beside_the_original_has_no_break(project: Handed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCH_LOGS", "graph_breaks")
    before, after = (project.run(project.folder / name) for name in ("train.py", "train_fixed.py"))
    assert after.returncode == 0, after.stderr
    assert after.stdout == before.stdout != ""
    assert "Graph break" in before.stderr
    assert "Graph break" not in after.stderr


@pytest.mark.prove
def test_a_module_that_was_edited_since_is_refused_in_one_line(project: Handed, tmp_path: Path) -> None:
    folder = shutil.copytree(project.folder, tmp_path / "edited")
    model = folder / "forecast" / "model.py"
    model.write_text(MODULE.replace("x + score", "x - score"), "utf-8")
    done = project.run(folder / "train_fixed.py", folder)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        "forecast.model.Gate.forward is patched here, but its source is not the one that was changed "
        f"({model}). Put that source back, or make this file again: graphbreak explain --report"
    ]


OWN = {"src/gated_a/model.py": "gated_a.model", "src/gated_b/__init__.py": "gated_b", "gated_c.py": "gated_c"}


@pytest.mark.parametrize("name", OWN)
def test_a_module_has_the_name_by_which_the_program_imported_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`src` is below the script's folder, so by its path `src.gated_b` would do. That would be another module."""
    file, line = tmp_path / name, line_of("if score.mean()", MODULE)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(MODULE, "utf-8")
    (refused,) = find_library_patches([target_at(file, line)])
    assert isinstance(refused, Refusal)
    assert refused.reason == "its file is not one of the program's own modules, so it can't be patched by name"
    monkeypatch.syspath_prepend(tmp_path / "src")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module(OWN[name])
    nested = line_of("x * 2 if x.sum()", MODULE)
    patch, refused = find_library_patches([target_at(file, line), target_at(file, nested)])
    assert isinstance(patch, Patch)
    assert patch.title == f"patches `{OWN[name]}.Gate.forward`: the branch on a tensor becomes `torch.where`"
    assert isinstance(refused, Refusal)
    assert refused.reason == "`switch` is made inside another function, so it can't be patched by name"


def test_the_files_of_torch_and_python_are_none_of_the_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import torch

    monkeypatch.setattr(torch.nn.functional, "__file__", str(tmp_path / "functional.py"))  # as if built there
    assert find_own_module(str(tmp_path / "functional.py")) == ""
    assert list(find_library_patches([target_at(json.__file__, 300)])) == []


CALLS = {
    "y = checked(x)": "y = checked(x, strict=False)",
    "y = parts.checked(x, scale=2)": "y = parts.checked(x, scale=2, strict=False)",
    "y = checked(x) + checked(x)": "",
    "y = checked(x, strict=True)": "",
    "y = checked(x, **options)": "",
    "y = other(x)": "",
}


@pytest.mark.parametrize("call", CALLS)
def test_a_switch_around_the_line_is_given_its_other_value_where_the_call_is_clear(call: str, tmp_path: Path) -> None:
    file = str(install(tmp_path) / "small" / "parts.py")
    inside = UserFrame(file=file, line=line_of("if x.isnan()"), function="checked", source="")
    site = Site(
        gb_ids=("GB0170",),
        gb_types=("",),
        file=file,
        line=inside.line,
        stack=(UserFrame(file="train.py", line=2, function="f", source=call), inside),
    )
    source = Source(f"def f(x):\n    {call}\n    return y\n")
    patches = list(find_arguments(source, [Target(site=site, line=0)]))
    after = [apply_patches(source, [patch]).text for patch in patches]
    assert after == ([source.text.replace(call, CALLS[call])] if CALLS[call] else [])
    assert list(find_arguments(Source("def f(x):\n    pass\n"), [Target(site=site, line=0)])) == []


def test_the_line_of_a_break_is_found_again_in_the_program(tmp_path: Path) -> None:
    line = line_of("if x.sum() > 100")
    (patch,) = proposed(install(tmp_path), line)
    assert isinstance(patch, Patch)
    for newline in ("\n", "\r\n"):
        source = Source(PROGRAM.replace("\n", newline))
        after = apply_patches(source, [patch]).text.splitlines()
        assert (
            after[line_after(source, [patch], patch.targets[0]) - 1].strip().startswith("x = torch.where(x.sum() > 100")
        )


THRESHOLDS = {
    "drawn < self.p": ("drawn = torch.rand([])", "(self.p > 0 and drawn < self.p)"),
    "self.training and (drawn < p)": ("drawn = torch.rand(1)", "self.training and ((p > 0 and drawn < p))"),
    "drawn > self.p": ("drawn = torch.rand([])", ""),
    "drawn <= self.p": ("drawn = torch.rand([])", ""),
    "drawn < self.p()": ("drawn = torch.rand([])", ""),
    "other < self.p": ("other = torch.randn([])", ""),
    "drawn < p": ("drawn = torch.rand([]); drawn -= 1", ""),
}


@pytest.mark.parametrize("test", THRESHOLDS)
def test_a_random_number_is_compared_only_with_a_probability_above_0(test: str) -> None:
    drawn, becomes = THRESHOLDS[test]
    text = f"import torch\ndef f(self, x, p):\n    {drawn}\n    if {test}:\n        return x\n    return x + 1\n"
    target = Target(site=Site(gb_ids=("GB0170",), gb_types=("",)), line=4)
    patches = list(find_random_thresholds(Source(text), [target]))
    after = [apply_patches(Source(text), [patch]).text for patch in patches]
    assert after == ([text.replace(f"if {test}:", f"if {becomes}:")] if becomes else [])
    assert find_random_thresholds in FIRST


LED = """import torch
import transformers

torch.manual_seed(0)
config = transformers.LEDConfig(
    vocab_size=32, d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
    decoder_attention_heads=2, encoder_ffn_dim=16, decoder_ffn_dim=16, attention_window=4,
    max_encoder_position_embeddings=64, max_decoder_position_embeddings=64, use_cache=False,
)
model = transformers.LEDModel(config).train()
compiled = torch.compile(model, backend="eager")
tokens = torch.arange(3, 11).unsqueeze(0)
for _ in range(2):
    compiled(input_ids=tokens, decoder_input_ids=tokens[:, :4]).last_hidden_state.sum().backward()
"""


@pytest.mark.prove
@pytest.mark.timeout(900)
def test_a_model_of_transformers_in_training_is_patched(tmp_path: Path) -> None:
    """LED asks a random number for each layer whether to skip it, with a probability of 0."""
    import torch

    from repro_runner.explain.program import ProgramToRun
    from repro_runner.explain.running import run_program

    script = tmp_path / "led.py"
    script.write_text(LED, "utf-8")
    program = ProgramToRun(script=str(script))
    report = run_program(program)
    torch._dynamo.reset()
    with Children() as children:
        fixing = find_fixes(report, program, children, tell=print)
    assert fixing.fixed is not None
    titles = [patch.title for patch in fixing.fixed.patches]
    assert any(title.startswith("set `torch._dynamo.config.capture_scalar_outputs`") for title in titles)
    assert any("patches `transformers.models.led.modeling_led.LEDDecoder.forward`" in title for title in titles)
    assert (fixing.fixed.breaks_before, fixing.fixed.breaks_after) == (3, 1)
    (stays,) = fixing.unfixed
    assert "patches `transformers.models.led.modeling_led.LEDEncoder.forward`" in stays.reason
    assert "the break moves to line" in stays.reason
