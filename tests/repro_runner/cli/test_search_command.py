"""`graphbreak search` and `graphbreak show --fix`: what they print, as text and as JSON, and how they end."""

from __future__ import annotations

import json

import pytest

from repro_runner.agents.lookups import Lookups
from repro_runner.cli import main
from repro_runner.exit_codes import DONE, NOT_AS_IT_SHOULD_BE, REFUSED
from tests.sitegen.api_registry import small_registry

pytestmark = pytest.mark.slow

MESSAGE = "torch._dynamo.exc.Unsupported: Data-dependent branching\n  Explanation: Detected data-dependent branching"


def test_the_best_come_first_with_their_lead_and_fix(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "if", "on", "a", "tensor", "--limit", "2"]) == DONE
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines if line.startswith("GB")] == ["GB0170", "GB0124"]
    assert lines[1].startswith("        An `if`, a `while`")
    assert any(line.strip().startswith("verified fix (torch ") for line in lines)
    assert lines[-1] == "`graphbreak show GB0170` shows the first"


def test_json_has_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "--format", "json", "--limit", "1", "GB0170"]) == DONE
    found = json.loads(capsys.readouterr().out)
    assert (found["kind"], found["schema"], found["more"]) == ("search", 1, 0)
    assert [(hit["gb_id"], hit["named"]) for hit in found["hits"]] == [("GB0170", True)]
    assert found["hits"][0]["fix"]["verified_on"]


def test_nothing_found_is_exit_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "qqqq", "zzzz"]) == NOT_AS_IT_SHOULD_BE
    assert capsys.readouterr().out == "nothing was found; try fewer or other words\n"


def test_a_misspelt_word_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "genrator"]) == DONE
    assert capsys.readouterr().out.startswith("nothing was found for `genrator`; searched for generator")


def test_what_is_no_graph_break_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "torch.compile is currently being used with tensor subclass inputs:\n<class 'A'>"]) == DONE
    assert capsys.readouterr().out.startswith("This is not a graph break: ")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["search", "x", "--limit", "0"], "--limit 0: must be at least 1"),
        (["search", "  "], "search: there is nothing to search for"),
        (["show", "--fix", "hello\x1b[2J"], "the text: names no graph break"),
        (["show", "GB\x1b[2J"], "GB\\x1b[2J: is not an id"),
        (["show", "--format", "json", "GB99999"], "GB99999: no such graph break"),
    ],
)
def test_bad_input_is_one_line(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == REFUSED
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(told)


@pytest.mark.parametrize("named", ["GB0170", MESSAGE])
def test_a_fix_is_shown_for_an_id_and_for_a_message(named: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "--fix", "--torch", "2.9.1", named]) == DONE
    out = capsys.readouterr().out
    assert out.startswith("GB0170: Data-dependent branching\n")
    assert "# verified on torch 2.9.1\ndef fixed(x):\n" in out


def test_a_fix_is_shown_with_where_it_does_not_hold(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    known = Lookups()
    known.registry = small_registry()
    monkeypatch.setattr("repro_runner.cli.show.shared_lookups", lambda: known)
    assert main(["show", "--fix", "GB0001"]) == DONE
    captions = (
        "# Nobody needs the number.\n# Not for NaN: A `NaN` is dropped.\n# Not for other sizes: It counts to 8.\n"
    )
    assert f"{captions}# verified on torch 2.9.0\ndef fixed(x):\n" in capsys.readouterr().out
    assert main(["show", "--fix", "--format", "json", "GB0001"]) == DONE
    (fix,) = json.loads(capsys.readouterr().out)["fixes"]
    assert fix["limits"] == ["Not for NaN: A `NaN` is dropped.", "Not for other sizes: It counts to 8."]


def test_an_id_without_a_fix_is_exit_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "--fix", "GB0053"]) == NOT_AS_IT_SHOULD_BE
    assert "\nno verified fix." in capsys.readouterr().out


def test_an_id_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "--format", "json", "124"]) == DONE
    found = json.loads(capsys.readouterr().out)
    assert (found["kind"], found["gb_id"], found["standing"]) == ("graph-break", "GB0124", "live")
    assert "item()" in found["program_that_breaks"]
