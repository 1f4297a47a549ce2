"""What to do about a recompile, in the user's names. If nothing can be done, the advice is a note on that."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from repro_runner.guards.changes import Change
from repro_runner.torch_seams import dynamo_config

BEFORE_FIRST_CALL = "before the first call"
BEFORE_CALL = "before each call"
WHEN_COMPILING = "when compiling"
SETTING = "setting"
IN_THE_CODE = "in the code"
NOTHING = "nothing to do"

DYNAMIC = "torch.compile(model, dynamic=True)"
UNSPECIALISED_INTS = "torch._dynamo.config.allow_unspec_int_on_nn_module = True"
DYNAMIC_PARAMETERS = "torch._dynamo.config.force_parameter_static_shapes = False"
NO_DUCK_SHAPES = "torch.fx.experimental._config.use_duck_shape = False"


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """One thing to do. `code` is what to write, line by line, where that can be said exactly."""

    words: str
    how: str
    """before the first call, before each call, when compiling, setting, in the code; or nothing to do."""
    code: str = ""
    about: tuple[str, ...] = ()
    """The names of the values that it is about."""
    holds: bool | None = None
    """Whether these values cause fewer recompiles when the advice is followed; None: not tried."""
    tried: str = ""
    """The result of the trial, in words."""


DYNAMIC_WITHOUT_DUCKS = Advice(
    words="let all sizes vary, and keep torch from taking two for one because they are equal in the first call",
    how=WHEN_COMPILING,
    code=f"{NO_DUCK_SHAPES}\n{DYNAMIC}",
)
UNKNOWN = Advice(words="nothing is known here that removes this recompile", how=NOTHING)
NONE_HELPED = Advice(words="nothing that was tried removes this recompile", how=NOTHING)


def advise(changes: Sequence[Change], *, function: str) -> tuple[Advice, ...]:
    """Advice that may remove the recompile that these changes caused; what needs no change of code comes first."""
    found = [*_before_call(changes), *_when_compiling(changes)]
    found += [advice for change in changes for advice in _code_advice(change, function)]
    return tuple(dict.fromkeys(found)) or (UNKNOWN,)


def _before_call(changes: Sequence[Change]) -> Iterator[Advice]:
    """One piece of advice with all lines to run before a call: a value that is left out would still recompile."""
    lines = {line: change for change in changes if _is_input(change) for line in _lines(change)}
    if lines:
        aspects = [change.aspect for change in lines.values()]
        once = set(aspects) <= {"size", "bound"}
        yield Advice(
            words=" and ".join(dict.fromkeys(_WORDS[aspect] for aspect in aspects)),
            how=BEFORE_FIRST_CALL if once else BEFORE_CALL,
            code="\n".join(lines),
            about=_sources(lines.values()),
        )


def _sources(changes: Iterable[Change]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(source for change in changes for source in change.sources))


_WORDS = {
    "size": "mark what varies",
    "bound": "mark what varies",
    "dtype": "give it the same dtype in every call",
    "device": "put it on the same device in every call",
    "requires_grad": "let it require grad in every call or in none",
    "layout": "give it the same strides in every call",
    "tensor class": "hand over a plain tensor in every call",
    "inference": "copy what was made under torch.inference_mode",
    "dispatch": "carry out conjugation and negation that torch has put off",
    "aliasing": "hand over two tensors in every call",
    "value": "hand it over as a tensor, if the model only calculates with it",
}


def _is_input(change: Change) -> bool:
    """Whether the caller can reach it: an argument, or something inside of one."""
    return change.role == "argument" and "___from_numpy" not in change.expression


def _lines(change: Change) -> list[str]:
    name, aspect = change.source, change.aspect
    if aspect in ("size", "bound"):
        # Torch compiles sizes 0 and 1 on their own, marked dynamic or not.
        special = aspect == "bound" or {change.was, change.now} & {"0", "1"}
        mark = "torch._dynamo.decorators.mark_unbacked" if special else "torch._dynamo.mark_dynamic"
        return [f"{mark}({name}, {change.dimension})"]
    if aspect == "aliasing":
        second = name.rpartition(" and ")[2]
        return [f"{second} = {second}.clone()"]
    if aspect == "requires_grad":
        return [f"{name} = {name}.detach()" + (".requires_grad_()" if change.was == "True" else "")]
    if aspect == "tensor class":
        return [f"{name} = {name}.detach().as_subclass(torch.Tensor)"]
    if aspect == "value" and _is_another_number(change):
        return [f"{name} = torch.as_tensor({name})"]
    template = {
        "dtype": "{name} = {name}.to(torch.{was})",
        "device": "{name} = {name}.to({was!r})",
        "layout": "{name} = {name}.contiguous()",
        "inference": "{name} = {name}.clone()",
        "dispatch": "{name} = {name}.resolve_conj().resolve_neg()",
    }.get(aspect)
    return [template.format(name=name, was=change.was)] if template else []


def _when_compiling(changes: Sequence[Change]) -> Iterator[Advice]:
    parameters = [change for change in changes if change.aspect == "size" and change.role in ("parameter", "buffer")]
    if parameters:
        words, code = "let the sizes of parameters and buffers vary, too", f"{DYNAMIC_PARAMETERS}\n{DYNAMIC}"
        yield Advice(words=words, how=WHEN_COMPILING, code=code, about=_sources(parameters))
        return
    if assumed := [change for change in changes if change.aspect == "assumed"]:
        words = "keep torch from taking two sizes for one because they were equal in the first call"
        yield Advice(words=words, how=SETTING, code=NO_DUCK_SHAPES, about=_sources(assumed))
    for number in (int, float):
        setting = f"torch._dynamo.config.specialize_{number.__name__}"
        fixed = [change for change in changes if change.aspect == "value" and type(_literal(change.was)) is number]
        if fixed and getattr(dynamo_config, f"specialize_{number.__name__}"):
            words = "let numbers vary from the second one on, as torch does by default"
            yield Advice(words=words, how=SETTING, code=f"{setting} = False", about=_sources(fixed))
    if varying := [change for change in changes if _varies_in_dynamic(change)]:
        words = "let all sizes and numbers vary"
        yield Advice(words=words, how=WHEN_COMPILING, code=DYNAMIC, about=_sources(varying))
    if kept := [change for change in changes if _is_module_int(change)]:
        words = "let whole numbers kept by modules vary: one recompile instead of one for each"
        yield Advice(words=words, how=SETTING, code=UNSPECIALISED_INTS, about=_sources(kept))


def _varies_in_dynamic(change: Change) -> bool:
    if change.aspect == "size":
        return not {change.was, change.now} & {"0", "1"}
    if change.aspect != "value" or not _is_another_number(change):
        return False
    # Whole numbers that are globals, or that modules keep, stay fixed in any case.
    return not (isinstance(_literal(change.was), int) and (change.role == "global" or _is_module_int(change)))


def _is_module_int(change: Change) -> bool:
    whole = isinstance(_literal(change.was), int) and _is_another_number(change)
    return change.aspect == "value" and change.role == "module attribute" and whole


def _code_advice(change: Change, function: str) -> Iterator[Advice]:
    """What to do in the model's code about one change, or why nothing can be done."""
    name, aspect = change.source, change.aspect
    if aspect == "value":
        yield from _value_advice(change)
    elif aspect == "specialised":
        what = f"dimension {change.dimension} of {name}" if change.dimension is not None else name
        words = f"{change.user_line or function} needs {what} as a number: there is a graph for each, marked or not"
        yield Advice(words=words, how=NOTHING)
    elif aspect == "relation":
        words = f"{change.user_line or function} depends on it: there is a graph for each outcome, and no more"
        yield Advice(words=words, how=NOTHING)
    elif aspect == "size" and change.role == "module attribute":
        words = f"give {name} its greatest size once, and write into a part of it"
        yield Advice(words=words, how=IN_THE_CODE)
    elif aspect in ("length", "keys") and name in ("args", "kwargs"):
        yield Advice(words="hand every argument over the same way in every call: by name or not", how=IN_THE_CODE)
    elif aspect in _CODE:
        yield Advice(words=_CODE[aspect].format(name=name), how=IN_THE_CODE)
    elif aspect == "identity":
        callee = "function" in change.was
        template = _SAME_FUNCTION if callee else _PER_OBJECT
        yield Advice(words=template.format(name=name), how=IN_THE_CODE if callee else NOTHING)
    elif aspect == "state":
        words = f"there is a graph for each {name}, and no more; to have one, make every call under the same"
        yield Advice(words=words, how=NOTHING)


_SAME_FUNCTION = "define {name} once and hand over that one: each `lambda` or `def` that is written is code of its own"
_PER_OBJECT = "there is a graph for each object that {name} is"
_CODE = {
    "rank": "give {name} the same number of dimensions in every call: x.reshape(…), x.unsqueeze(…)",
    "length": "there is a graph for each length of {name}: fill it up to one length, or stack it into one tensor",
    "keys": "hand {name} over with the same keys in the same order in every call",
    "membership": "hand {name} over with the same keys in every call",
    "type": "hand {name} over as the same type in every call",
    "attribute": "set every attribute of {name} before the first call",
    "marks": "mark {name} before the first call",
    "backend": "compile it once, and keep what torch.compile returns: each backend has graphs of its own",
    "freed": "keep {name} for as long as the compiled function is in use, and hand over the same one",
}


def _value_advice(change: Change) -> Iterator[Advice]:
    name = change.source
    if name.endswith(".training"):
        yield Advice(words="there is a graph for training and one for evaluation, and no more", how=NOTHING)
    elif _is_number(change.was) and _is_number(change.now) and not _is_another_number(change):
        yield Advice(words=_CODE["type"].format(name=name), how=IN_THE_CODE)
    elif not _is_another_number(change):
        words = f"there is a graph for each value of {name}, as there must be where it decides what is computed"
        yield Advice(words=words, how=NOTHING)
    elif _is_module_int(change):
        owner, _, attribute = name.rpartition(".")
        buffer = f": {owner}.register_buffer({attribute!r}, torch.tensor(…))" if attribute.isidentifier() else ""
        yield Advice(words=f"keep {name} as a tensor{buffer}", how=IN_THE_CODE)
    elif change.role in ("global", "closure"):
        yield Advice(words=f"keep {name} as a tensor", how=IN_THE_CODE)


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None


def _is_number(text: str) -> bool:
    value = _literal(text)
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_another_number(change: Change) -> bool:
    """Is it now another number of the same type? An int does not fit a graph that was compiled for a float."""
    return _is_number(change.was) and type(_literal(change.was)) is type(_literal(change.now))
