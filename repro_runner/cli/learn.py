"""`graphbreak learn NAME`: a lesson about torch.compile, run here, cell by cell."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence

from rich.console import Console
from rich.markdown import Markdown
from rich.padding import Padding
from rich.syntax import Syntax
from rich.text import Text

from registry.errors import InvalidInput, Problem
from registry.model import Lesson
from repro_runner.cli import verb_parser
from repro_runner.environment import describe_environment
from repro_runner.exit_codes import DONE, NOT_AS_IT_SHOULD_BE
from repro_runner.output.terminal import plain

EPILOG = """\
The lessons are programs in examples/: read them, change them, and run them again. Numbers after ≈ were measured.

exit codes:
  0    the lesson ran to its end
  1    it raised an error
  2    there is no such lesson, no torch, or no compiler that it needs
"""
_WIDEST = 100
_NO_COMPILER = ("InvalidCxxCompiler", "Failed to find C compiler")
"""What Inductor and Triton say where there is none."""


def main(argv: Sequence[str]) -> int:
    """Run a lesson, or list all of them."""
    parser = verb_parser("learn", "Learn how torch.compile works, with programs that run on your machine.", EPILOG)
    parser.add_argument("name", nargs="?", help="a lesson; `--list` shows the names")
    parser.add_argument("--list", action="store_true", help="list the lessons")
    arguments = parser.parse_args(argv)
    from repro_runner.lessons.recording import find_lessons

    lessons = find_lessons()
    if arguments.list or not arguments.name:
        width = max(map(len, lessons))
        print("\n".join(f"{name:{width}}  {one.title}" for name, one in lessons.items()))
        return DONE
    name = arguments.name.replace("-", "_")
    if name not in lessons:
        raise InvalidInput([Problem(arguments.name, "is no lesson; `graphbreak learn --list` has their names")])
    describe_environment("cpu")  # raises NoTorch
    return _teach(lessons[name])


def _teach(lesson: Lesson) -> int:
    from repro_runner.lessons.recording import EXAMPLES
    from repro_runner.lessons.running import run_cells

    console = Console(highlight=False)
    width = min(console.width, _WIDEST)
    console.print(Text(lesson.title, style="bold"), Text(f"\n{lesson.lead}\n"), width=width)
    outputs = run_cells(EXAMPLES / lesson.file, lesson.cells)
    for cell in lesson.cells:
        if cell.text:
            console.print(Markdown(cell.text), width=width)
            console.print()
            continue
        console.print(
            Padding(
                Syntax(cell.code, "python", theme="ansi_dark", background_color="default", word_wrap=True), (0, 0, 1, 4)
            )
        )
        sys.stdout.flush()
        try:
            output = next(outputs)
        except SystemExit as left:  # something that it needs is missing
            raise InvalidInput([Problem(lesson.name, str(left))]) from left
        except Exception as error:  # a lesson may raise anything
            if any(words in str(error) for words in _NO_COMPILER):
                raise InvalidInput([Problem(lesson.name, "needs a C++ compiler; Debian has one in `g++`")]) from error
            traceback.print_exc()
            return NOT_AS_IT_SHOULD_BE
        shown = output.text or ("(a picture; it is on the lesson's page)" if output.picture else "")
        console.print(Text("\n".join(map(plain, shown.rstrip("\n").split("\n"))) + "\n"), soft_wrap=True)
    return DONE
