"""A reduced program as a repro: ready for registry/repros but for its fix, which nobody but its author can write."""

from __future__ import annotations

import textwrap

from registry.repros import parse_repro
from repro_runner.capture import CapturedBreak
from repro_runner.minifier.breaks.program import Program
from repro_runner.process import Limits
from repro_runner.runner.machine import ReproRun, ThisMachine

_NO_FIX = "not written yet: put a function `fixed` in place of this, or say why there can be none"
_COVERAGE = "cut down by graphbreak minify: which lines run depends on the inputs that the model had"


def render_repro(program: Program, found: CapturedBreak, *, covered: bool) -> str:
    """`covered`: the inputs of the runner's seeds differ, and run every line."""
    first = (found.explanation.strip() or found.gb_type).splitlines()[0]
    lead = textwrap.fill(first.replace("\\", "\\\\").replace('"', "'"), 79)
    head, _, rest = program.code().partition("\n\n\n")
    constants = [f'NO_FIX = "{_NO_FIX}"', *([] if covered else [f'COVERAGE = "{_COVERAGE}"'])]
    required = {"module": "numpy"} if "import numpy" in head else {}
    if 'device="cuda"' in rest or "device='cuda'" in rest:
        required["device"] = "cuda"
    if required:
        constants.append(f"REQUIRES = {required}")
    return f'"""{lead}"""\n{head}\n\n' + "\n".join(constants) + f"\n\n\n{rest}"


def verify_repro(source: str, gb_id: str, *, device: str, seconds: float) -> tuple[bool, str]:
    """What the runner says of it, in a fresh process: whether it is a repro of this id, and in words."""
    try:
        parse_repro(source, gb_id)
    except ValueError as error:
        return False, str(error)
    machine = ThisMachine(device, isolate="process", limits=Limits(seconds=seconds))
    (ended,) = machine.run([ReproRun(gb_id=gb_id, source=source, device=device)])
    record = ended.record
    if record["verdict"] == "reproduced":
        return True, f"reproduced: {gb_id}, {record['kind']}, {record['graphs']} graphs"
    ids = ", ".join([*record.get("ids", []), *record.get("ids_fullgraph", [])])
    return False, f"{record['verdict']}: {record.get('cause') or ids or ended.output.strip()[-500:] or 'no break'}"
