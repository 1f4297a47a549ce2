"""Find the lessons, and run one in a process of its own, to keep what it prints."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from registry.errors import InvalidInput, Problem
from registry.lessons import read_lessons
from registry.model import Lesson
from repro_runner.process import run_command
from repro_runner.runner.messages import without_place_and_time

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
_SECONDS = 900


def find_lessons() -> dict[str, Lesson]:
    """Every lesson by name; InvalidInput if they are not here."""
    lessons = read_lessons(EXAMPLES, ROOT / "registry" / "lessons")
    if not lessons:
        raise InvalidInput([Problem(str(EXAMPLES), "there are no lessons; they are in the repository, so clone it")])
    return {one.name: one for one in lessons}


def record_lesson(lesson: Lesson) -> tuple[dict[str, Any], str]:
    """(what is kept of a run, why there is nothing to keep; empty if there is)."""
    outputs, failure = run_apart(EXAMPLES / lesson.file)
    return ({}, failure) if failure else ({"sha256": lesson.sha256, "outputs": outputs}, "")


def run_apart(path: Path) -> tuple[list[dict[str, str]], str]:
    """Run a lesson, or the text of a notebook, in a child: (what its cells printed, why nothing is known)."""
    command = [sys.executable, "-m", "repro_runner.lessons.running", str(path)]
    ended = run_command(command, seconds=_SECONDS, folder=ROOT)
    printed = ended.stdout.text.splitlines()
    if ended.failure or not printed:
        return [], "; ".join([ended.failure or "it raised an error", *ended.stderr.text.strip().splitlines()[-1:]])
    outputs = json.loads(printed[-1])
    return [{name: without_place_and_time(text, path.parent) for name, text in one.items()} for one in outputs], ""
