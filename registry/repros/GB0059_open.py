"""The compiled function reads a file: settings, a mask, a vocabulary. A graph
can't read files."""
import tempfile
from pathlib import Path

import torch

TITLE = "open()"
FILE = Path(tempfile.gettempdir(), "gb0059_scale.txt")
FILE.write_text("2.5")
SCALE = float(FILE.read_text())


def inputs():
    return (torch.randn(8),)


def broken(x):
    file = open(FILE)
    scale = float(file.read())
    file.close()
    return x * scale


def fixed(x):
    """Use this when the file stays the same from call to call. Read it once,
    before you compile."""
    return x * SCALE
