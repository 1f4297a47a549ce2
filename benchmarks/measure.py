"""Run the benchmarks, all or those that are named, and keep what each prints as its section of README.md here."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
README = HERE / "README.md"
NAMES = ("generate", "site", "runner", "explain", "logs", "posts", "advice", "search", "paste", "matching")
PRINTED = "<!-- {}.py printed -->"
HEAD = """\
# Measurements

`make bench` runs all of these, `python benchmarks/measure.py NAME` one, and each writes its section here. Seconds are
of one machine (two cores, shared); the ratios within a table are the point. How well the judges judge is measured
apart: [changes](changes.md), [diff](diff.md), [fix benchmark](fix_benchmark.md).
"""


def main(names: Sequence[str]) -> int:
    """Return the exit code; what was not run keeps its section."""
    if unknown := [name for name in names if name not in NAMES]:
        print(f"no such benchmark: {', '.join(unknown)}; there are {', '.join(NAMES)}", file=sys.stderr)
        return 2
    for name in names or NAMES:
        printed = subprocess.run([sys.executable, HERE / f"{name}.py"], check=True, stdout=subprocess.PIPE, text=True)
        print(printed.stdout, flush=True)
        sections = {**read_sections(README), name: printed.stdout.strip()}
        README.write_text(readme_of(sections), "utf-8")
    return 0


def read_sections(path: Path) -> dict[str, str]:
    """Name of a benchmark -> what it printed."""
    text = path.read_text("utf-8") if path.exists() else ""
    marker = PRINTED.format(r"(\w+)")
    found = re.finditer(rf"{marker}\n\n(.*?)(?=\n\n## |\Z)", text, re.DOTALL)
    return {one[1]: one[2].strip() for one in found}


def readme_of(sections: Mapping[str, str]) -> str:
    """The whole file: for each benchmark its docstring, whose first sentence is the heading, and what it printed."""
    texts = [HEAD]
    for name in filter(sections.__contains__, NAMES):
        about = ast.get_docstring(ast.parse((HERE / f"{name}.py").read_text("utf-8"))) or ""
        title, _, rest = about.partition("\n\n")
        parts = (f"## {' '.join(title.split()).rstrip('.')}", rest, PRINTED.format(name), sections[name])
        texts.append("\n\n".join(filter(None, parts)) + "\n")
    return "\n".join(texts)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
