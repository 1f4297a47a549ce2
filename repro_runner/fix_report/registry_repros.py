"""The registry's own program for a break: handed over where nothing could be made of the user's code."""

from __future__ import annotations

from registry.model import GraphBreak
from registry.releases import version_key
from registry.standalone import standalone
from repro_runner.fix_report.contents import NOT_RUN, REGISTRY, TORCH_XLA, HandedRepro
from repro_runner.logs.tt_xla.repro import torch_xla_script

_BREAKS = ("verified", "reproduced")


def registry_repro(gb: GraphBreak | None, *, why: str = "") -> HandedRepro | None:
    """As a script of its own; None where the registry has no program. `why`: why it is not the user's code."""
    if gb is None or gb.repro is None:
        return None
    said = _seen(gb)
    return HandedRepro(
        name=f"repros/{gb.gb_id}_registry.py",
        text=f"# The registry's program for {gb.gb_id}, not yours. Not run here; {said}.\n{standalone(gb.repro)}",
        origin=REGISTRY,
        verdict=NOT_RUN,
        said=f"{said}." + (f" Nothing could be made of your code: {why}." if why else ""),
    )


def torch_xla_repro(gb: GraphBreak | None) -> HandedRepro | None:
    """The same program for a device that torch_xla drives; None where there is none."""
    script = torch_xla_script(gb) if gb else None
    if gb is None or script is None:
        return None
    return HandedRepro(
        name=f"repros/{gb.gb_id}_registry_torch_xla.py",
        text=script,
        origin=TORCH_XLA,
        verdict=NOT_RUN,
        said="nobody ran this form, for want of a device.",
    )


def _seen(gb: GraphBreak) -> str:
    runs = [seen.environment.torch for seen in gb.fresh_evidence if seen.verdicts.get("eager") in _BREAKS]
    if not runs:
        return "the registry has no run of it either"
    return f"the registry ran it with torch {max(runs, key=version_key)}, and it broke with {gb.gb_id}"
