"""Run the programs in registry/message_programs/: does the message come, and does every fix keep it away?

Each function runs as the module that its page shows, in a process of its own, because loggers read their settings when
torch is imported, and because torch gives many warnings only once.
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

from registry.matching import Matcher
from registry.message_programs import find_own
from registry.model import MessageProgram
from repro_runner.process import run_command

_SECONDS = 300
_OTHER_FOLDERS = re.compile(rf"{re.escape(tempfile.gettempdir())}/[^/\s]+/")  # with random names
_LOGGER_CLOCK = re.compile(r"(?m)^([VDIWEF])[0-9]{4} [0-9:.]+ [0-9]+ ")


def run_message_program(program: MessageProgram, matcher: Matcher) -> dict[str, Any]:
    """The record of one program: what it printed, and for each fix whether it is silent and equals eager."""
    with tempfile.TemporaryDirectory(prefix="graphbreak-message-") as folder:
        printed, outcome = _run(program, Path(folder), "message")
        raised = outcome.removeprefix("raised ").partition("\n")[0]  # it says more than a log record about it
        tail = printed[printed.rfind(raised) :] if raised != outcome and raised in printed else ""
        found = find_own(program, tail, matcher) or find_own(program, printed, matcher)
        fixes: dict[str, dict[str, Any]] = {}
        for fix in program.fixes:
            said, outcome = _run(program, Path(folder), fix)
            fixes[fix] = {"silent": find_own(program, said, matcher) is None, "equal": outcome == "equal"}
            if outcome != "equal":
                fixes[fix]["cause"] = without_place_and_time(outcome, Path(folder))[-500:]
        said = without_place_and_time(found.message.text if found else "", Path(folder))
        return {"sha256": program.sha256, "printed": said, "fixes": fixes}


def without_place_and_time(text: str, folder: Path) -> str:
    """What a program in `folder` printed, without folders, clocks and process ids: the same on every machine."""
    from repro_runner.runner.part import normalise

    return _OTHER_FOLDERS.sub("", normalise(_LOGGER_CLOCK.sub(r"\1 ", text), folder))


def _run(program: MessageProgram, folder: Path, function: str) -> tuple[str, str]:
    """(what was printed on standard error, the outcome as the child gave it, or why it gave none)."""
    for name, part in {"program": function, "eager": "eager"}.items():
        (folder / f"{name}.py").write_text(program.parts.get(part, ""), "utf-8")
    # Code from Inductor's cache is not compiled again, and so warns of nothing.
    own = {"TORCHINDUCTOR_CACHE_DIR": str(folder / "cache"), **program.environment}
    variables = [f"{key}={value}" for key, value in own.items()]
    command = ["env", *variables, sys.executable, "-m", "repro_runner.runner.messages", str(folder), function]
    ended = run_command(command, seconds=_SECONDS, folder=Path(__file__).parents[2])
    outcome = ended.stdout.text.strip().splitlines()
    return ended.stderr.text, json.loads(outcome[-1]) if outcome and not ended.failure else ended.failure


def _main(folder: str, function: str) -> None:
    """In the child: call one function; the last line on standard output says how a fix compares with eager."""
    from repro_runner.judge import RESULT
    from repro_runner.judge.comparing import Terms, flats_differ
    from repro_runner.judge.state import flat_of

    try:
        value = _call(Path(folder, "program.py"), function)
    except Exception:  # noqa: BLE001  # the message may be an exception of any class
        traceback.print_exc()
        print(json.dumps(f"raised {traceback.format_exc(limit=0).strip()}"))
        return
    if function == "message":
        print(json.dumps("returned"))
        return
    eager = _call(Path(folder, "eager.py"), "eager")
    print(json.dumps(flats_differ(RESULT, flat_of(eager, "program"), flat_of(value, "program"), Terms()) or "equal"))


def _call(path: Path, function: str) -> object:
    """Run a module and call its function; both that are compared begin with the same random numbers."""
    import torch

    spec = importlib.util.spec_from_file_location("program", path)
    assert spec is not None and spec.loader is not None
    sys.modules["program"] = program = importlib.util.module_from_spec(spec)
    torch.manual_seed(0)
    spec.loader.exec_module(program)
    torch.manual_seed(0)
    value: object = getattr(program, function)()
    return value


if __name__ == "__main__":
    _main(*sys.argv[1:])
