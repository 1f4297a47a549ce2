from __future__ import annotations

import pytest

from repro_runner.cli import main


@pytest.mark.parametrize("spelled", ["GB0124", "gb0124", "124", "0124"])
def test_show_finds_an_id_however_it_is_spelled(spelled: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", spelled]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("GB0124: Unsupported Tensor.item() call with capture_scalar_outputs=False\n")
    assert "emitted      torch/_dynamo/" in shown
    assert "to include these operations in the captured graph." in shown


def test_show_tells_old_wordings_and_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    main(["show", "GB0170"])
    shown = capsys.readouterr().out
    assert "once read    _gb_type" in shown
    assert "hint         (none given)" in shown


@pytest.mark.parametrize("unknown", ["GB99999", "nonsense"])
def test_show_of_an_unknown_id_is_one_line_and_exit_2(unknown: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", unknown]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == f"{unknown}: no such graph break; ids look like GB0042\n"
