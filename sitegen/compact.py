"""Data for the page's scripts: small, laid out by its writer so that a diff shows one id as one line."""

from __future__ import annotations

import json


def compact(value: object) -> str:
    """One value on one line, without a space to spare."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def data_script(name: str, text: str) -> dict[str, str]:
    """{path under docs/: JSON as a script}: a page that was opened from disk may load a script, but not fetch a file.

    templates/scripts/loading.js reads it.
    """
    return {f"assets/data/{name}.js": f'(self.graphBreaks ??= {{}})["data/{name}"] = {text.rstrip()};\n'}
