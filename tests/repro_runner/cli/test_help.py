"""`graphbreak --help`: it names every verb, and every exit code with its meaning."""

from __future__ import annotations

import pytest

from repro_runner import exit_codes
from repro_runner.cli import VERBS, main
from repro_runner.exit_codes import MEANINGS


@pytest.fixture
def help_text(capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == exit_codes.DONE
    return capsys.readouterr().out


def test_it_names_every_exit_code_with_its_meaning(help_text: str) -> None:
    lines = [line.split(maxsplit=1) for line in help_text.partition("exit codes")[2].splitlines()[1:]]
    assert {int(code): meaning for code, meaning in filter(None, lines)} == MEANINGS


def test_every_exit_code_has_a_meaning() -> None:
    codes = {value for name, value in vars(exit_codes).items() if name.isupper() and isinstance(value, int)}
    assert codes == MEANINGS.keys()


def test_it_names_every_verb(help_text: str) -> None:
    starts = [line.split()[:1] for line in help_text.splitlines()]
    assert [verb for verb in VERBS if [verb] not in starts] == []
