"""Scripts that reproduce a break: made from the user's code and run, or from the registry. Works without torch."""

from __future__ import annotations

import re
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from registry.model import GraphBreak
from registry.standalone import standalone
from registry.versions import version_key
from repro_runner.explain.site import Site
from repro_runner.fix_report.children import Children
from repro_runner.fix_report.findings import Cause, Findings, shown_site
from repro_runner.fix_report.torch_xla import take_submodule_script, torch_xla_script
from repro_runner.output.markdown import one_line
from repro_runner.output.places import in_library, shown_file
from repro_runner.output.units import counted

if TYPE_CHECKING:
    from repro_runner.fix_report.cutting import Cutter

YOURS = "your code"
LIBRARYS = "a library's code"
REGISTRY = "the registry's program, not yours"
TORCH_XLA = "the registry's program for torch_xla, not yours"
OWN_TORCH_XLA = "your own model, for torch_xla"

CONFIRMED = "confirmed"
NOT_CONFIRMED = "not confirmed"
NOT_RUN = "not run"

_MOST_SITES = 40
"""Scripts are made for at most this many sites. Others get only the registry's program."""
_MOST_TRIED = 6
"""At most this many programs are tried per site, those of the innermost functions first."""
_MOST_LINES = 200
"""A longer script is written only if it is confirmed."""
_SECONDS_PER_SCRIPT = 60.0
_NO_DEVICE = "nobody ran this form, for want of a device."
_NO_TIME = "no run, since the time for all scripts was used up"

Tell = Callable[[str], None]
"""A function that is called with a line about what is being done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReproScript:
    """A standalone script that reproduces a break."""

    name: str
    """Its path in the folder of the report."""
    text: str
    origin: str
    """Where the code comes from: YOURS or LIBRARYS with the function's name, or one of the other constants."""
    verdict: str
    """CONFIRMED, NOT_CONFIRMED or NOT_RUN."""
    said: str
    """What the run showed, or why the script was not run."""
    site: Site | None = None
    """The site in the user's code."""


Repros = Mapping[int, tuple[ReproScript, ...]]
"""The scripts for each cause, by the number of the cause from 0."""


def registry_repro(gb: GraphBreak | None, *, why: str = "") -> ReproScript | None:
    """The registry's program for a break; None if it has none. `why` says why there is no script of the user's code."""
    if gb is None or gb.repro is None:
        return None
    said = _seen_by_registry(gb)
    return ReproScript(
        name=f"repros/{gb.gb_id}_registry.py",
        text=f"# The registry's program for {gb.gb_id}, not yours. Not run here; {said}.\n{standalone(gb.repro)}",
        origin=REGISTRY,
        verdict=NOT_RUN,
        said=f"{said}." + (f" Nothing could be made of your code: {why}." if why else ""),
    )


def torch_xla_repro(gb: GraphBreak | None) -> ReproScript | None:
    """The registry's program in a form for torch_xla; None if it has none."""
    script = torch_xla_script(gb) if gb else None
    if gb is None or script is None:
        return None
    return ReproScript(
        name=f"repros/{gb.gb_id}_registry_torch_xla.py",
        text=script,
        origin=TORCH_XLA,
        verdict=NOT_RUN,
        said=_NO_DEVICE,
    )


def _own_torch_xla_repro(findings: Findings, place: _Place, submodule: Mapping[str, Any]) -> ReproScript:
    """A script that takes the submodule around a break out of the user's own model."""
    assert findings.program is not None
    gb_id, site = place.cause.gb_id, place.site
    name = script_name(gb_id, site.file, site.line).replace(".py", "_torch_xla.py")
    what = f"{submodule['kind']} ({submodule['path']})" if submodule["path"] else submodule["kind"]
    header = [
        f"{gb_id}, {place.cause.gb_types[0]}: {what} of your own model, by itself, with torch_xla.",
        f"Not run: {_NO_DEVICE}",
        f"It runs {findings.subject} without the compiler up to the first call of {submodule['function']}, takes the "
        "submodule and its arguments from there, and compiles that alone.",
        f"Run it in the folder where your program runs: python {Path(name).name}",
    ]
    text = f"{_docstring(header)}\n\n{take_submodule_script(findings.program, submodule)}"
    return ReproScript(name=name, text=text, origin=OWN_TORCH_XLA, verdict=NOT_RUN, said=_NO_DEVICE, site=site)


def _seen_by_registry(gb: GraphBreak) -> str:
    runs = [seen.environment.torch for seen in gb.fresh_evidence if seen.shows_it]
    if not runs:
        return "the registry has no run of it either"
    return f"the registry ran it with torch {max(runs, key=version_key)}, and it broke with {gb.gb_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnRepros:
    """The scripts that were made of the user's code. `without` maps the other places to the reasons."""

    repros: Repros
    without: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    number: int
    """The number of the cause."""
    cause: Cause
    site: Site
    also: tuple[Site, ...] = ()
    """Other sites of the same cause, which give the same program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CutLimits:
    """How many seconds may be used to cut one script down, and for all of them."""

    each: float = 30.0
    in_all: float = 120.0


CUT_LIMITS = CutLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tried:
    """A program that was run as a script."""

    program: Mapping[str, Any]
    seen: Mapping[str, Any]
    """The ids of its breaks, and its error."""
    confirmed: bool
    notes: str = ""
    """What is to be said about it besides."""


def make_own_repros(
    findings: Findings, children: Children, *, seconds: float, limits: CutLimits, tell: Tell
) -> OwnRepros:
    """Run the program again to extract functions, run the scripts that are made of them, and cut those down."""
    places = [
        _Place(number=number, cause=cause, site=site)
        for number, cause in enumerate(findings.causes)
        for site in _worth_trying(cause)
    ]
    tried = places[:_MOST_SITES]
    without = {place.site.where: f"only {_MOST_SITES} places are tried" for place in places[_MOST_SITES:]}
    assert findings.program is not None
    stacks = [[asdict(frame) for frame in place.site.stack] for place in tried]
    arguments = {"program": asdict(findings.program), "stacks": stacks}
    done = children.run("extraction:extract_functions", arguments, seconds=seconds)
    if done.failure:
        why = f"the program, run once more, {done.failure}"
        return OwnRepros(repros={}, without={place.site.where: why for place in tried} | without)
    different = _without_twins(list(zip(tried, done.result["places"], strict=True)))
    ends = time.monotonic() + seconds
    chosen: list[tuple[_Place, _Tried]] = []
    for place, extracted in different:
        tried_one = _first_confirmed(place, extracted["programs"], children, ends)
        lines = len(tried_one.program["code"].splitlines()) if tried_one else 0
        if tried_one is None:
            without[place.site.where] = "; ".join(extracted["reasons"])
        elif lines > _MOST_LINES and not tried_one.confirmed:
            name = tried_one.program["function"]
            without[place.site.where] = (
                f"{name}, with what it needs, has {lines} lines, and does not break so by itself"
            )
        else:
            chosen.append((place, tried_one))
    repros: dict[int, tuple[ReproScript, ...]] = {}
    for place, one in _cut_down(chosen, children, limits, tell):
        repros[place.number] = (*repros.get(place.number, ()), _repro(findings, place, one))
    for place, extracted in different if findings.torch_xla else ():
        if submodule := extracted["submodule"]:
            script = _own_torch_xla_repro(findings, place, submodule)
            repros[place.number] = (*repros.get(place.number, ()), script)
    return OwnRepros(repros=repros, without=without)


def _worth_trying(cause: Cause) -> list[Site]:
    """The sites in the user's own code. If there are none, the sites in libraries."""
    own = [site for site in cause.sites if not in_library(Path(site.file))]
    return own or list(cause.sites)


def _without_twins(found: list[tuple[_Place, dict[str, Any]]]) -> list[tuple[_Place, dict[str, Any]]]:
    """Merge sites of one cause that give the same program. Its script names all of them."""
    kept: list[tuple[_Place, dict[str, Any]]] = []
    for place, extracted in found:
        for number, (earlier, its_programs) in enumerate(kept):
            if extracted["programs"] and earlier.number == place.number and its_programs == extracted:
                kept[number] = (replace(earlier, also=(*earlier.also, place.site)), its_programs)
                break
        else:
            kept.append((place, extracted))
    return kept


def _first_confirmed(place: _Place, programs: list[dict[str, Any]], children: Children, ends: float) -> _Tried | None:
    """The first program that breaks in the same way as the whole. If none does, the first; None if there is none."""
    seen: list[Mapping[str, Any]] = []
    for one in programs[:_MOST_TRIED]:
        if time.monotonic() > ends:
            seen.append({"ids": [], "error": _NO_TIME})
            break
        seen.append(_run(_script(place, one), children))
        if place.cause.gb_id in seen[-1]["ids"]:
            return _Tried(program=one, seen=seen[-1], confirmed=True)
    return _Tried(program=programs[0], seen=seen[0], confirmed=False) if seen else None


def _cut_down(
    chosen: list[tuple[_Place, _Tried]], children: Children, limits: CutLimits, tell: Tell
) -> Iterator[tuple[_Place, _Tried]]:
    """Yield the places with what was tried, cut down where it was confirmed."""
    confirmed = sum(one.confirmed for _, one in chosen)
    if not confirmed:
        yield from chosen
        return
    from repro_runner.fix_report.cutting import Cutter  # it needs torch

    tell(f"cutting {counted(confirmed, 'repro')} down: at most {limits.each:g} s each, {limits.in_all:g} s in all")
    with Cutter(each=limits.each, in_all=limits.in_all) as cutter:
        for place, one in chosen:
            yield place, _smaller(place, one, children, cutter, tell) if one.confirmed else one


def _smaller(place: _Place, whole: _Tried, children: Children, cutter: Cutter, tell: Tell) -> _Tried:
    """It with a smaller program, if one is found that breaks with the same ids as a script, too."""
    kept = [gb_id for gb_id in place.cause.gb_ids if gb_id in whole.seen["ids"]]
    cut = cutter.cut(whole.program, kept, fatal=place.cause.kind == "fatal")
    if cut.stopped:
        tell(f"{script_name(place.cause.gb_id, place.site.file, place.site.line)}: {cut.stopped}")
    program = {**whole.program, "code": cut.code}
    seen = whole.seen if program == whole.program else _run(_script(place, program), children)
    if not set(kept) <= set(seen["ids"]):
        return replace(whole, notes=cut.stopped)
    before, after = (len(each["code"].splitlines()) for each in (whole.program, program))
    notes = f"Cut down from {before} to {after} lines. {cut.stopped}" if after < before else cut.stopped
    return _Tried(program=program, seen=seen, confirmed=True, notes=notes)


def _run(script: str, children: Children) -> Mapping[str, Any]:
    with tempfile.NamedTemporaryFile("w", suffix=".py", encoding="utf-8", newline="\n") as file:
        file.write(script)
        file.flush()
        done = children.run("tasks:run_repro", {"script": file.name}, seconds=_SECONDS_PER_SCRIPT)
    return done.result or {"ids": [], "error": f"the process {done.failure}"}


def _repro(findings: Findings, place: _Place, tried: _Tried) -> ReproScript:
    gb_id, site, one, seen = place.cause.gb_id, place.site, tried.program, tried.seen
    run = f"run in a process of its own with torch {findings.environment.get('torch', '')}"
    if tried.confirmed:
        verdict = CONFIRMED
        said = f"{run}, it breaks with {', '.join(seen['ids'])}. {tried.notes}".rstrip()
    else:
        verdict = NOT_CONFIRMED
        instead = f"it breaks with {', '.join(seen['ids'])}" if seen["ids"] else "it does not break"
        ended = f", and ends with {seen['error']}" if seen["error"] else ""
        said = f"{run}, {instead}{ended}, and not with {gb_id}."
    return ReproScript(
        name=script_name(gb_id, site.file, site.line),
        text=_script(place, one, verdict=f"{verdict.capitalize()}: {said}"),
        origin=f"{LIBRARYS if in_library(Path(site.file)) else YOURS}: the function {one['function']}",
        verdict=verdict,
        said=said,
        site=site,
    )


def _script(place: _Place, one: Mapping[str, Any], verdict: str = "Not run yet.") -> str:
    gb_id, site = place.cause.gb_id, place.site
    where = ", ".join(map(shown_site, (site, *place.also)))
    header = [
        f"{gb_id}, {place.cause.gb_types[0]}: a graph break of {where} as a program of its own.",
        f"The function {one['function']} of {shown_file(site.file)}, with what it needs. Its inputs are drawn at "
        "random with the shapes, dtypes and strides that they had in its first call.",
        verdict,
        f"Run it: python {Path(script_name(gb_id, site.file, site.line)).name}",
    ]
    return render_script(one["code"], header, settings=one["settings"], fatal=place.cause.kind == "fatal")


def render_script(code: str, header: Sequence[str], *, settings: Sequence[str] = (), fatal: bool) -> str:
    """The text of a script. `code` defines `inputs` and `broken`. `header` has the paragraphs of its docstring."""
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
    """A docstring with these paragraphs. Backslashes and quotes in them are made harmless."""
    paragraphs = (one_line(each).replace("\\", "\\\\").replace('"', "'") for each in header)
    filled = [textwrap.fill(each, 110, break_long_words=False, break_on_hyphens=False) for each in paragraphs]
    return '"""' + "\n\n".join(filled) + '\n"""'


def script_name(gb_id: str, file: str, line: int) -> str:
    """The path of a script in the folder of the report: `repros/GB0124_train_21.py`."""
    stem = re.sub(r"[^A-Za-z0-9]+", "_", re.split(r"[/\\]", file)[-1].rpartition(".")[0]).strip("_") or "program"
    return f"repros/{gb_id}_{stem}_{line}.py"
