"""The program that `graphbreak ui` starts: Streamlit's server behind the check of who asks. Argument: the port."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from starlette.middleware import Middleware
from streamlit.starlette import App

from repro_runner.ui.access import OwnPagesOnly
from repro_runner.ui.serving import HERE, HOST, SECRET, server_settings


def _main(port: int, secret: str) -> None:
    check = Middleware(OwnPagesOnly, address=f"{HOST}:{port}", secret=secret)
    with suppress(KeyboardInterrupt):  # Ctrl-C is how it ends
        App(HERE / "app.py", middleware=[check]).run(config=server_settings(port, secret))


if __name__ == "__main__":
    _main(int(sys.argv[1]), os.environ[SECRET])
