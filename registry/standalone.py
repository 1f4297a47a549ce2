"""A repro as a script that runs by itself: the break with its message, then every fix."""

from __future__ import annotations

import re

from registry.model import Repro
from registry.snippets import call_of


def standalone(repro: Repro) -> str:
    """The repro's source with an end that anybody can run."""
    body = []
    if _has(repro, "CONFIG"):
        body += ["for name, value in CONFIG.items():", "    setattr(torch._dynamo.config, name, value)"]
    options = ", **COMPILE" if _has(repro, "COMPILE") else ""
    body += call_of("broken", options).splitlines()
    for fix, kind in repro.fixes.items():
        call = call_of(fix, options)
        patch = f"with torch._dynamo.config.patch(FLAGS[{fix!r}]):"
        body += [patch, f"    {call}"] if kind == "flag" else [call]
    end = "\n".join(f"    {line}" for line in body)
    return f'{repro.source.rstrip()}\n\n\nif __name__ == "__main__":\n{end}\n'


def _has(repro: Repro, constant: str) -> bool:
    return re.search(rf"^{constant}\b", repro.source, re.MULTILINE) is not None
