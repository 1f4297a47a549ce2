"""Where the data is. InChild from `knowledge`: `run` works where there is nothing but torch, and so no YAML."""

from __future__ import annotations

from pathlib import Path

import registry

DATA = Path(registry.__file__).parent
