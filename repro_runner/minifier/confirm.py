"""Run a finished script as its reader will: in a fresh process, elsewhere, without this project."""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from repro_runner.minifier.script import Script
from repro_runner.minifier.trials import Outcome, last_verdict, write_script
from repro_runner.process import run_command

_OWN = ("repro_runner", "registry", "sitegen", "generate_site")
_START = """\
import runpy, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in sys.argv[2].split():
            raise ModuleNotFoundError(f"No module named {name!r}")

script = sys.argv[1]
sys.path[:0] = sys.argv[3:]
sys.meta_path.insert(0, Absent())
runpy.run_path(script, run_name="__main__")
"""
"""Isolated from the environment, with this project out of reach even where it is installed."""


def run_standalone(script: Script, *, seconds: float) -> Outcome:
    """What it says where nothing but torch, and the modules that it names, can be imported."""
    absent = [name for name in _OWN if name not in {module.partition(".")[0] for module in script.modules}]
    with tempfile.TemporaryDirectory(prefix="graphbreak-minified-") as folder:
        path = Path(folder) / "repro.py"
        write_script(script, path)
        command = [sys.executable, "-I", "-c", _START, str(path), " ".join(absent), *folders_of(script.modules)]
        ended = run_command(command, seconds=seconds, folder=Path(folder))
    if ended.result is None:
        return Outcome(code=None, text=ended.failure)
    text = last_verdict(ended.stdout.text) or ended.stderr.text.strip()[-2000:]
    return Outcome(code=ended.result["code"], text=text)


def folders_of(modules: Iterable[str]) -> list[str]:
    """Where the modules that a script needs are found, each folder once."""
    found: dict[str, None] = {}
    for root in dict.fromkeys(module.partition(".")[0] for module in modules):
        loaded = sys.modules.get(root)
        spec = getattr(loaded, "__spec__", None) or importlib.util.find_spec(root)
        if spec is not None and spec.origin not in (None, "built-in", "frozen"):
            origin = Path(str(spec.origin))
            found[str(origin.parents[1] if spec.submodule_search_locations else origin.parent)] = None
    return list(found)
