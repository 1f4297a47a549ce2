"""A form with the settings of `graphbreak demo --quick`; it runs the command, and shows its lines meanwhile."""

from __future__ import annotations

import re
from typing import Any

import streamlit as st

from registry.errors import Problem
from repro_runner.demo.quick import SMALL, QuickRun
from repro_runner.exit_codes import INTERRUPTED, REFUSED
from repro_runner.process import Background, module_command
from repro_runner.ui.folder import ProjectFolder
from repro_runner.ui.shown import page_of, read_or_complain, select, show, show_code, show_notice, show_title

_BACKENDS = ("aot", "inductor", "mock", "eager", "another …")
_OWN = "a file of mine"
_RUNNING = "running command"
_RUN_LINE = re.compile(r"run (\d{8}-\d{6}-demo-[0-9a-f]{6})", re.ASCII)
_NONE = "none"


def show_page(project: ProjectFolder) -> None:
    """The form, or the command that this tab has started."""
    show_title("New run", "Examine a model with settings of your choice. The small ones have random weights.")
    if _RUNNING in st.session_state:
        _show_progress(project)
        return
    quick = _form(project, _settings_to_begin_with(project))
    show_code(quick.command(), "bash", wrap_lines=True)
    problems = [*quick.problems(), *_outside(project, quick)]
    if problems:
        show_notice(*map(str, problems), warns=True)
    if st.button("Run", type="primary", disabled=bool(problems)):
        command = module_command("repro_runner", *quick.words())
        st.session_state[_RUNNING] = Background(command, folder=project.folder)
        st.rerun()


def _settings_to_begin_with(project: ProjectFolder) -> QuickRun:
    """Those of the run that the address names, or the default ones."""
    run = project.find(st.query_params.get("like", ""))
    contents = None if run is None else read_or_complain(run)
    return QuickRun() if contents is None else QuickRun.from_manifest(contents.manifest)


def _form(project: ProjectFolder, start: QuickRun) -> QuickRun:
    model, comparison, limits = st.columns(3, gap="large")
    with model:
        given = {**_model_fields(project, start), "seed": int(st.number_input("Seed", value=start.seed))}
    with comparison:
        given |= _comparison_fields(start)
    with limits:
        given |= _limit_fields(project, start)
    return QuickRun(**given)


def _model_fields(project: ProjectFolder, start: QuickRun) -> dict[str, Any]:
    show("heading.html.j2", title="Model")
    file, _, function = start.model.rpartition(":")
    chosen = select("Model", [*SMALL, _OWN], start.model if start.model in SMALL else _OWN)
    if chosen == _OWN:
        return {"model": _own_model(project, file, function)}
    batch = st.number_input("Samples in a batch", min_value=1, value=start.batch, placeholder="2", help=_WHY_BATCH)
    padding = st.number_input("Padding", min_value=0, value=start.padding, help=_WHY_PADDING)
    return {"model": chosen, "batch": batch, "padding": int(padding)}


def _own_model(project: ProjectFolder, file: str, function: str) -> str:
    files = project.model_files()
    if not files:
        show_notice(f"No Python file below {project.folder} uses torch.", warns=True)
        return ":"
    chosen = select("File", files, file)
    functions = project.functions(chosen)
    if not functions:
        show_notice("No function in this file makes a model. Write one without arguments that returns (model, inputs).")
        return f"{chosen}:"
    name = select("Function", functions, function)
    return f"{chosen}:{name}"


def _comparison_fields(start: QuickRun) -> dict[str, Any]:
    show("heading.html.j2", title="Comparison with eager")
    other = start.backend not in _BACKENDS
    backend = select("Backend", _BACKENDS, _BACKENDS[-1] if other else start.backend)
    if backend == _BACKENDS[-1]:
        backend = st.text_input("Where it is", value=start.backend if other else "", placeholder="module:name").strip()
    rtol, atol = st.columns(2)
    rtol_text = rtol.text_input("rtol", value=_text(start.rtol), placeholder="by dtype", help=_WHY_TOLERANCE)
    atol_text = atol.text_input("atol", value=_text(start.atol), placeholder="by dtype")
    return {
        "backend": backend or "aot",
        "rtol": _tolerance("rtol", rtol_text),
        "atol": _tolerance("atol", atol_text),
        "gradients": st.toggle("Compare gradients, too", value=start.gradients),
        "pictures": None if st.toggle("Draw heat maps of the errors", value=start.pictures is not False) else False,
        "force_failure": st.toggle("Plant a fault in the backend", value=start.force_failure, help=_WHY_FAULT),
    }


def _limit_fields(project: ProjectFolder, start: QuickRun) -> dict[str, Any]:
    show("heading.html.j2", title="Limits of the device")
    files = [_NONE, *project.capability_files()]
    file = select("Capability file", files, start.device_file)
    alignment = st.number_input("Alignment", min_value=1, value=start.alignment, placeholder="any", help=_WHY_ALIGNMENT)
    dtypes = st.text_input("Dtypes", value=start.dtypes, placeholder="float32,int64").strip()
    memory = st.text_input("Memory at once", value=start.max_memory, placeholder="2MiB").strip()
    denied = st.text_input("Ops that it lacks", value=", ".join(start.deny_op), placeholder="gelu, softmax")
    with st.expander("Limits of the run"):
        seconds = st.number_input("Seconds for each step", min_value=1, value=int(start.timeout))
        size = st.number_input("GiB of memory", min_value=1, value=None, placeholder="three quarters of what is free")
    return {
        "device_file": None if file == _NONE else file,
        "alignment": alignment,
        "dtypes": dtypes,
        "max_memory": memory,
        "deny_op": tuple(filter(None, (name.strip() for name in denied.split(",")))),
        "timeout": float(seconds),
        "memory": size,
    }


def _text(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


def _tolerance(name: str, text: str) -> float | None:
    """The number; None, with a notice, if the text is none."""
    try:
        value = float(text) if text.strip() else None
    except ValueError:
        value = -1.0
    if value is not None and not value >= 0:
        show_notice(f"{name}: {text} is not a number from 0 on; it is left out.", warns=True)
        return None
    return value


def _outside(project: ProjectFolder, quick: QuickRun) -> list[Problem]:
    """What is not below the folder: the browser may ask for any name."""
    model, _, function = quick.model.rpartition(":")
    backend = quick.backend.rpartition(":")[0]
    named = {"--model": model, "--limits": quick.device_file or "", "--backend": backend if ".py" in backend else ""}
    problems = [
        Problem(f"{option} {name}", f"not a file below {project.folder}; choose one that is")
        for option, name in named.items()
        if name and not project.holds(name)
    ]
    if quick.model not in SMALL and not function:
        problems.append(Problem("--model", "choose a file, and a function that makes the model"))
    return problems


@st.fragment(run_every=0.5)
def _show_progress(project: ProjectFolder) -> None:
    """The lines of the command; when it has ended, its run, or what it complains about."""
    running: Background = st.session_state[_RUNNING]
    lines = running.lines
    if running.code != REFUSED:
        show_code("\n".join(lines) or "starting …", None, wrap_lines=True)
    if running.running:
        if st.button("Stop"):
            running.stop()
            st.rerun()
        return
    found = _RUN_LINE.fullmatch(lines[-2]) if len(lines) > 1 else None
    if found and project.find(found[1]):
        del st.session_state[_RUNNING]
        st.switch_page(page_of("run"), query_params={"run": found[1]})
    if running.code == REFUSED:
        show_notice(*lines, warns=True)
    else:
        show_notice(
            "Stopped." if running.code == INTERRUPTED else f"It ended with exit code {running.code}.", warns=True
        )
    if st.button("Back to the form"):
        del st.session_state[_RUNNING]
        st.rerun()


_WHY_BATCH = "Leave it empty for the model's own."
_WHY_PADDING = "BERT: this many more tokens, which the mask leaves out. ResNet: this many zero pixels on each side."
_WHY_TOLERANCE = "An element is close if |test - reference| <= atol + rtol * |reference|. Empty: chosen by dtype."
_WHY_FAULT = "Use a backend whose activations are one per cent too large, and see how that is found."
_WHY_ALIGNMENT = "Every dimension of every tensor has to be a multiple of it."
