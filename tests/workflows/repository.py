"""A real repository for the scripts of the workflows: bare, with the clone of the runner and of a person beside it."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

BOT = "github-actions[bot] <41898282+github-actions[bot]@users.noreply.github.com>"

_NOBODYS_SETTINGS = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def git(where: Path, *arguments: str) -> str:
    # Inside a hook git points at the repository of the hook.
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | _NOBODYS_SETTINGS
    done = subprocess.run(["git", *arguments], cwd=where, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"git {' '.join(arguments)}: {done.stderr}"
    return done.stdout.strip()


def write_program(path: Path, *lines: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(("#!/bin/sh", *lines, "")))
    path.chmod(0o755)


@dataclass(frozen=True)
class Repository:
    """The three repositories, and files that tell the stand-ins what to do."""

    control: Path

    @property
    def bare(self) -> Path:
        return self.control / "bare.git"

    @property
    def runner(self) -> Path:
        return self.control / "runner"

    @property
    def person(self) -> Path:
        return self.control / "person"

    def set(self, name: str, value: str = "") -> None:
        (self.control / name).write_text(value)

    def tip(self, branch: str = "main") -> str:
        return git(self.bare, "rev-parse", branch)

    def run(self, command: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a script in the runner's clone as GitHub would: with none of our git's settings, the stand-ins first."""
        env = {name: value for name, value in os.environ.items() if not name.startswith("GIT")}
        env |= {**_NOBODYS_SETTINGS, "LC_ALL": "C", "JITTER": "0", "GENERATE": "fake-generate", **environment}
        env["PATH"] = f"{self.control / 'bin'}{os.pathsep}{env['PATH']}"
        return subprocess.run(command, cwd=self.runner, env=env, capture_output=True, text=True, check=False)

    def push_start(self) -> None:
        """Push what lies in the person's folder as main, and clone it as actions/checkout does: shallow, so by URL."""
        git(self.control, "init", "--quiet", "--bare", "--initial-branch", "main", str(self.bare))
        git(self.bare, "config", "core.logAllRefUpdates", "true")
        git(self.person, "init", "--quiet", "--initial-branch", "main")
        git(self.person, "config", "user.name", "A Person")
        git(self.person, "config", "user.email", "person@example.org")
        git(self.person, "remote", "add", "origin", str(self.bare))
        git(self.person, "add", "--all")
        git(self.person, "commit", "--quiet", "--message", "start")
        git(self.person, "push", "--quiet", "--set-upstream", "origin", "main")
        git(self.control, "clone", "--quiet", "--depth", "1", self.bare.as_uri(), str(self.runner))
