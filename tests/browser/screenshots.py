"""The pictures of docs/tools and of the README, made of what the commands really print: `make screenshots`.

Text in a terminal becomes an SVG, in which it stays text. Where a picture is of a web page, Chromium takes it.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

from registry.datafile import write_whole
from repro_runner.runs import list_runs
from sitegen.preview import write_preview
from tests.checkout import ROOT
from tests.repro_runner.ui.test_browser import serving
from tests.tools import chromium
from tests.workflows.test_action import add_a_break

PICTURES = ROOT / "docs" / "assets" / "tools"
WIDTH = 100
Scheme = Literal["light", "dark"]
SVG = Path(__file__).with_name("terminal.svg")
"""The frame of a picture. It has none of rich's fonts, which come from another host."""


LAZY = """\
--- a/small/model.py
+++ b/small/model.py
@@ -19,2 +19,1 @@
-        print(x.shape)
         return x
"""
FIX = """\
--- a/small/model.py
+++ b/small/model.py
@@ -16,5 +16,4 @@
         x = torch.relu(self.first(x))
-        if x.sum() > 0:
-            x = self.second(x)
+        x = torch.where(x.sum() > 0, self.second(x), x)
         print(x.shape)
         return x
"""


def draw_terminal(name: str, title: str, printed: str) -> None:
    """Write docs/assets/tools/NAME.svg: a terminal with this text, colours included."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(printed.rstrip()), soft_wrap=False)
    picture = console.export_svg(title=title, theme=MONOKAI, code_format=SVG.read_text("utf-8"), unique_id=name)
    write_whole(PICTURES / f"{name}.svg", picture.encode("utf-8"))


def run(command: str, cwd: Path, environment: Mapping[str, str] | None = None) -> str:
    """What a command prints, after the line that a reader would type."""
    own = {
        **os.environ,
        **(environment or {}),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "COLUMNS": str(WIDTH),
        "FORCE_COLOR": "1",
        "PYTHONPATH": str(ROOT),
    }
    done = subprocess.run(
        ["bash", "-c", command], cwd=cwd, env=own, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    return f"\x1b[1m$ {command}\x1b[0m\n{done.stdout.decode('utf-8', 'replace')}"


def photograph_ui(project: Path) -> None:
    """Write docs/assets/tools/ui-*.png: two runs of a small model, with the right numbers and with wrong ones."""
    run("graphbreak demo --quick --deny-op gelu", project)
    run("graphbreak demo --quick --force-failure", project)
    right, wrong = (each.id for each in list_runs(project / ".graphbreak"))
    addresses: dict[str, tuple[str, Scheme]] = {
        "numerics": (f"run?run={wrong}&part=Numerics", "light"),
        "compare": (f"compare?a={right}&b={wrong}", "light"),
        "graph": (f"run?run={right}&part=Graphs", "dark"),
        "new": ("new", "light"),
    }
    with chromium() as browser, serving(project) as server:
        for name, (address, scheme) in addresses.items():
            page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme=scheme)
            page.goto(f"{server.address}/{address}")
            page.locator(".graphbreak").first.wait_for(timeout=60_000)
            page.get_by_test_id("stStatusWidget").wait_for(state="detached")
            page.wait_for_timeout(2_000)  # for the drawing, which is fitted when it has been loaded
            # Of a graph only the drawing: the text beside it has paths of this machine.
            shown = page.locator(".viewer") if name == "graph" else page
            shown.screenshot(path=PICTURES / f"ui-{name}.png")


def photograph_page(site: Path) -> None:
    """Write the README's picture: a break's page, built without Ruby into this folder."""
    write_preview(ROOT / "docs", site)
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme="light")
        page.goto((site / "gb" / "gb0124.html").as_uri())
        page.screenshot(path=ROOT / ".github" / "images" / "page.png")


def make_project(home: Path) -> Path:
    """The example project, in which somebody has just added a break."""
    project = home / "project"
    shutil.copytree(ROOT / "examples" / "project", project, ignore=shutil.ignore_patterns("__pycache__", ".*cache"))
    add_a_break(project)
    return project


def main() -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        project = make_project(Path(home))
        tests = run("pytest -q --show-capture=no", project)
        draw_terminal("pytest", "a test that fails on a new graph break", tests)
        breaks = run("graphbreak explain --summary --fail-on-break --allow breaks.allow train.py", project)
        draw_terminal("explain", "in CI", breaks)
        (project / "lazy.diff").write_text(LAZY, "utf-8")
        (project / "fix.diff").write_text(FIX, "utf-8")
        commands = (
            "search if on a tensor --limit 2",
            "explain --try lazy.diff train.py",
            "explain --try fix.diff train.py",
        )
        session = "\n".join(run(f"graphbreak {command}", project) for command in commands)
        draw_terminal("agents", "what an agent runs", session)
        photograph_ui(project)
        photograph_page(Path(home, "site"))


if __name__ == "__main__":
    main()
