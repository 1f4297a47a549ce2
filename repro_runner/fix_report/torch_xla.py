"""Programs in the form that tt-xla runs, for users with the device: the registry's, and the user's own model.

This project has not run them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from registry.model import GraphBreak, Repro
from repro_runner.output.templates import text_templates

if TYPE_CHECKING:
    from repro_runner.explain.program import ProgramToRun

_HEADER = """\
# {gb_id} on a Tenstorrent device through torch_xla.
# Not run: nobody ran this form of the program, for want of a device. The program and its fixes were run on the CPU:
# `graphbreak show {gb_id} --script` prints that form.
# Needs tt-xla, which brings the backend "tt".
"""
_END = """\
if __name__ == "__main__":
    torch._logging.set_logs(graph_breaks=True)  # every break with its message and its link
{config}    torch_xla.runtime.set_device_type("TT")
    arguments = tree_map(lambda one: one.to(torch_xla.device()) if hasattr(one, "to") else one, inputs())
    print(torch.compile(broken, backend="tt"{options})(*arguments))
    torch_xla.sync()
"""
_CONFIG = """\
    for name, value in CONFIG.items():
        setattr(torch._dynamo.config, name, value)
"""
_IMPORTS = "import torch_xla\nimport torch_xla.runtime\nfrom torch.utils._pytree import tree_map\n"


def torch_xla_script(gb: GraphBreak) -> str | None:
    """The registry's program for a break, with torch_xla's device and tt-xla's backend; None if there is none."""
    if gb.repro is None:
        return None
    source = gb.repro.source.rstrip()
    imported = re.sub(r"^import torch\n", f"import torch\n{_IMPORTS}", source, count=1, flags=re.MULTILINE)
    options = ', **{name: value for name, value in COMPILE.items() if name != "backend"}'
    end = _END.format(
        config=_CONFIG if _has(gb.repro, "CONFIG") else "",
        options=options if _has(gb.repro, "COMPILE") else "",
    )
    return f"{_HEADER.format(gb_id=gb.gb_id)}{imported}\n\n\n{end}"


def take_submodule_script(program: ProgramToRun, submodule: Mapping[str, Any]) -> str:
    """A script that runs the user's program up to the first call of a submodule, and compiles that alone.

    `submodule` says where its function is: file, function and first line, as `extraction.extract_functions` has them.
    """
    template = text_templates(Path(__file__).with_name("templates")).get_template("torch_xla.py.j2")
    known = {name: repr(submodule[name]) for name in ("function", "line")}
    file, here = Path(submodule["file"]), Path.cwd()
    # The machine with the device may have the project in another folder.
    below = f"os.path.abspath({str(file.relative_to(here))!r})" if file.is_relative_to(here) else ""
    return template.render(
        **known,
        file=below or repr(str(file)),
        program=repr(program.name),
        arguments=repr(list(program.arguments)),
        folder=repr(str(Path(program.script).parent)),
        is_module=bool(program.module),
    )


def _has(repro: Repro, constant: str) -> bool:
    return re.search(rf"^{constant}\b", repro.source, re.MULTILINE) is not None
