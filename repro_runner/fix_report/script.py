"""A function taken out of a program, as a script that shows its break by itself. No torch here."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

from repro_runner.output.markdown import one_line


def render_script(code: str, header: Sequence[str], *, settings: Sequence[str] = (), fatal: bool) -> str:
    """`code` defines `inputs` and `broken`; `header` says what this is, a paragraph each."""
    call = f'torch.compile(broken, backend="eager"{", fullgraph=True" if fatal else ""})(*inputs())'
    body = [
        "torch._logging.set_logs(graph_breaks=True)  # every break with its message and its link",
        *settings,
        "torch.manual_seed(0)",
        *(["try:", f"    {call}", "except Exception as error:", "    print(error)"] if fatal else [call]),
    ]
    end = textwrap.indent("\n".join(body), "    ")
    return f'{_docstring(header)}\n{code.strip()}\n\n\nif __name__ == "__main__":\n{end}\n'


def _docstring(header: Sequence[str]) -> str:
    """Whatever is in the text, it stays text: neither an escape nor the end of the string."""
    told = (one_line(each).replace("\\", "\\\\").replace('"', "'") for each in header)
    paragraphs = [textwrap.fill(each, 110, break_long_words=False, break_on_hyphens=False) for each in told]
    return '"""' + "\n\n".join(paragraphs) + '\n"""'


def script_name(gb_id: str, file: str, line: int) -> str:
    """`repros/GB0124_train_21.py`."""
    stem = re.sub(r"[^A-Za-z0-9]+", "_", re.split(r"[/\\]", file)[-1].rpartition(".")[0]).strip("_") or "program"
    return f"repros/{gb_id}_{stem}_{line}.py"
