"""A folder with runs, and the pages of the UI over it, without a browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from repro_runner.ui.serving import FOLDER
from tests.repro_runner.fixtures.sample_run import HOSTILE

MARKUP = f":red[owned] :material/home: :smile: $x^2$ **bold** [link](javascript:alert(1)) {HOSTILE}"
"""What HTML, Markdown and Streamlit's own syntax would make something of."""

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

Open = Callable[..., "AppTest"]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the UI is about; its runs are in .graphbreak."""
    monkeypatch.setenv(FOLDER, str(tmp_path))
    monkeypatch.setenv("GRAPHBREAK_HOME", str(tmp_path / ".graphbreak"))
    return tmp_path


@pytest.fixture
def open_page(project: Path) -> Open:  # noqa: ARG001 - the environment is set by then
    """Open a page by its module, with parameters of the address."""

    from streamlit.testing.v1 import AppTest  # takes seconds, and `make quick` needs it nowhere

    def open_one(page: str, **parameters: str) -> AppTest:
        app = AppTest.from_function(_page, args=(page,), default_timeout=60)
        for name, value in parameters.items():
            app.query_params[name] = value
        return app.run()

    return open_one


def _page(page: str) -> None:
    import importlib

    from repro_runner.ui.folder import ProjectFolder

    importlib.import_module(f"repro_runner.ui.{page}").show_page(ProjectFolder.current())


def shown(app: AppTest) -> str:
    """All HTML of the page."""
    assert not app.exception, app.exception
    return "\n".join(each.proto.body for each in app.get("html"))
