"""`graphbreak doctor`: the private names of torch, each present or missing, and the verbs that need it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from repro_runner import torch_seams
from repro_runner.cli import VERBS, main
from repro_runner.cli.doctor import find_verbs
from repro_runner.torch_seams import SEAMS, Seam
from tests.conftest import ROOT


@pytest.mark.torch
def test_the_installed_torch_has_every_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    shown = capsys.readouterr().out
    assert "missing" not in shown
    assert all(seam.path in shown for seam in SEAMS.values())
    assert shown.splitlines()[-1].endswith("all there")


@pytest.mark.prove
@pytest.mark.torch
def test_a_name_that_is_gone_is_named_with_the_verbs_behind_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = Seam("torch._dynamo.no_such_thing", "reset what was compiled")
    monkeypatch.setitem(SEAMS, "reset", gone)
    assert main(["doctor", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    (missing,) = [each for each in found["names"] if each["state"] == "missing"]
    assert (found["kind"], found["schema"], found["missing"]) == ("doctor", 1, 1)
    assert missing["name"] == "torch._dynamo.no_such_thing"
    assert {"run", "minify"} <= set(missing["verbs"]) <= set(VERBS)
    assert "show" not in missing["verbs"]


@pytest.mark.torch
def test_what_needs_a_name_that_is_gone_fails_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SEAMS, "not_there", Seam("torch._dynamo.no_such_thing", "a test"))
    with pytest.raises(ImportError, match=r"no torch\._dynamo\.no_such_thing; `graphbreak doctor` tells"):
        _ = torch_seams.not_there
    monkeypatch.setitem(SEAMS, "optional", Seam("torch._dynamo.no_such_thing", "a test", optional=True))
    assert torch_seams.optional is None
    monkeypatch.delattr(torch_seams, "optional")


def test_without_torch_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['torch'] = None; from repro_runner.cli import main; sys.exit(main(['doctor']))"
    hidden = code.replace(
        "from repro_runner",
        "import importlib.util as u; real = u.find_spec; u.find_spec = lambda n, *a: None if n == 'torch' else "
        "real(n, *a); from repro_runner",
    )
    answer = subprocess.run([sys.executable, "-c", hidden], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stdout) == (2, "")
    assert answer.stderr == ("torch is not installed in this environment; `pip install graph-break-registry[torch]`\n")


@pytest.mark.prove
@pytest.mark.slow
def test_every_name_is_used_by_some_verb() -> None:
    """One that no verb needs is dead: delete it."""
    assert [name for name, verbs in find_verbs().items() if not verbs] == []
