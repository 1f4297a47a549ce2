"""The refresh step with the real generator: upstream rewords a page while a person edits the note on it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from registry.sources import UPSTREAM_VARIABLE
from tests.checkout import (
    generate_here,
    in_block,
    make_checkout,
    make_wordings,
    page_of,
    registry_json,
    reworded,
    upstream_sending,
    write_note,
)
from tests.conftest import ROOT
from tests.workflows.repository import git, write_program
from tests.workflows.test_refresh_script import SCRIPT

pytestmark = pytest.mark.slow

NOTE = "seen on my own model \t\r\n\r\n  naïve ✓".encode()


@pytest.fixture
def runner(tmp_path: Path) -> Path:
    """A runner's clone whose first push is overtaken by a person who pushes a note on GB0001."""
    bare, person, runner = tmp_path / "bare.git", tmp_path / "person", tmp_path / "runner"
    git(tmp_path, "init", "--quiet", "--bare", "--initial-branch", "main", str(bare))
    make_checkout(person)
    (person / ".gitignore").write_text(".cache/\n")
    (person / ".gitattributes").write_bytes((ROOT / ".gitattributes").read_bytes())
    git(person, "init", "--quiet", "--initial-branch", "main")
    git(person, "config", "user.name", "A Person")
    git(person, "config", "user.email", "person@example.org")
    git(person, "remote", "add", "origin", str(bare))
    commit_and_push(person, "start")
    git(tmp_path, "clone", "--quiet", "--depth", "1", bare.as_uri(), str(runner))
    write_note(page_of(person, "GB0001"), NOTE)
    git(person, "commit", "--quiet", "--all", "--message", "a note")
    overtake = f"unset $(env | grep -o '^GIT_[A-Z_]*'); git -C '{person}' push --quiet origin main"
    write_program(runner / ".git/hooks/pre-push", overtake)
    return runner


def commit_and_push(clone: Path, message: str) -> None:
    git(clone, "add", "--all")
    git(clone, "commit", "--quiet", "--message", message)
    git(clone, "push", "--quiet", "--set-upstream", "origin", "main")


def refresh(runner: Path, upstream: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        UPSTREAM_VARIABLE: upstream,
        "GENERATE": f"{sys.executable} {ROOT / 'generate_site.py'} --root {runner}",
        "JITTER": "0",
        "GIT_CONFIG_GLOBAL": os.devnull,
    }
    return subprocess.run([str(SCRIPT)], cwd=runner, env=environment, capture_output=True, text=True, check=False)


def test_the_note_and_the_new_wording_are_both_on_the_tip_and_nothing_is_left_to_do(runner: Path) -> None:
    new = reworded(make_wordings(), "GB0001", "GB0002")
    with upstream_sending(registry_json(new)) as server:
        done = refresh(runner, server.url)
        assert done.returncode == 0, done.stderr
        assert "somebody pushed first (try 1 of 5)" in done.stderr
        again = refresh(runner, server.url)
    git(runner, "fetch", "--quiet", "--unshallow")
    git(runner, "reset", "--hard", "--quiet", "origin/main")
    page = page_of(runner, "GB0001").read_bytes()
    assert in_block(NOTE) in page
    assert b"reworded" in page
    assert b"reworded" in page_of(runner, "GB0002").read_bytes()
    assert git(runner, "log", "--format=%s").splitlines() == ["Refresh the generated site", "a note", "start"]
    assert generate_here(runner, "--check").code == 0
    assert (again.returncode, again.stdout.splitlines()[-1]) == (0, "changed=false")
