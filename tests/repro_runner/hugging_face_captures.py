"""Make registry/captured/transformers-*.json again: `python -m tests.repro_runner.hugging_face_captures [NAMES]`."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from tests.conftest import ROOT

NAMES = (
    *("encodec", "fastspeech2-conformer", "funnel", "led", "longformer"),
    *("longt5", "reformer", "speecht5", "vits", "wav2vec2"),
)
"""Those of hugging_face_models, which takes seconds to import."""


def captured_name(name: str) -> str:
    """What the registry calls a model."""
    return f"transformers-{name}"


def main(names: Sequence[str]) -> None:
    """Explain each model in a process of its own, and add what was seen."""
    about = f"transformers {version('transformers')}, tiny, random weights, in eval mode"
    for name in names or NAMES:
        with tempfile.TemporaryDirectory() as folder:
            run = Path(folder) / "run.json"
            _graphbreak("explain", "--summary", "--save", run, "-m", "tests.repro_runner.hugging_face_models", name)
            _graphbreak("add", run, "--name", captured_name(name), "--about", about, "--force")


def _graphbreak(*words: str | Path) -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, "-m", "repro_runner", *words], cwd=ROOT, env=environment, check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
