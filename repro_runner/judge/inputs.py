"""Inputs that the author of a program did not think of, made of those that the program draws."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import torch

from registry.model import LIMIT_KINDS
from repro_runner.values import map_tensors, tensors_in

_SMALL = 64
"""Sizes up to this are tried several times as large, too."""
SEARCHED = 24
"""How many inputs are tried to reach a branch that nothing reached."""
ROUNDED = {
    (torch.float32, False): 1.3e-6,
    (torch.float32, True): 1e-3,
    (torch.float64, False): 1e-9,
    (torch.float64, True): 1e-9,
}
"""The part of the largest number of a result that may be lost by rounding: (dtype, large inputs) -> it. In between,
numbers may have been much larger; what is right in double is not called wrong because of it."""
_SCALES = ((10.0, 0.0), (0.01, 0.0), (1.0, 3.0), (1.0, -3.0), (-1.0, 0.0), (0.0, 1.0), (100.0, 0.0), (0.0, -1.0))


_OF_WHOLE = "dtype of whole numbers"


def kind_of(variation: str) -> str:
    """`size` for `size 4 to 5`."""
    return next((kind for kind in LIMIT_KINDS if variation.startswith(kind)), "")


def plain_variations() -> tuple[str, ...]:
    """What can be done to the numbers of any inputs."""
    return "zero", "negative", "nan", "inf", "large", "strided"


def variations_of(given: tuple[Any, ...]) -> Iterator[str]:
    """What can be done to these inputs besides: their sizes, and Python's numbers among them."""
    sizes = sorted({size for tensor in tensors_in(given) if not tensor.is_nested for size in tensor.shape})
    for size in sizes:
        yield f"size {size} to {size + 1}"
        if size <= _SMALL:
            yield f"size {size} to {4 * size + 1}"
        if size > 1:
            yield f"size {size} to 1"
    if len(sizes) > 1:
        yield "size of all by 1"
    if any(_longer(value) is not value for value in given):
        yield "size of lists by 1"
    if any(_float_of_whole(tensor) is not tensor for tensor in tensors_in(given)):
        yield _OF_WHOLE
    places = [at for at, value in enumerate(given) if isinstance(value, torch.Tensor)]
    yield from (f"large {at}" for at in places if len(places) > 1)
    yield from (f"number {at}" for at, value in enumerate(given) if type(value) in (int, float, bool))


def searches() -> Iterator[str]:
    """Inputs among which one may reach another branch."""
    return (f"other side {at}" for at in range(SEARCHED))


def vary(given: tuple[Any, ...], variation: str) -> tuple[Any, ...]:
    """The inputs, changed. Raises what torch raises where these inputs can't be changed so."""
    kind = kind_of(variation)
    if kind in _NUMBERS:
        of_one = variation.rpartition(" ")[2]
        chosen = given[int(of_one)] if of_one.isdigit() else given
        _with_numbers(chosen, lambda tensor: _NUMBERS[kind](tensor))
        return given
    if kind == "other side":
        at = int(variation.rpartition(" ")[2])
        scale, shift = _SCALES[at % len(_SCALES)]
        _with_numbers(given, lambda tensor: tensor * scale + shift * (1 + at // len(_SCALES)), integers=at % 3 == 2)
        return given
    if kind == "number":
        place = int(variation.rpartition(" ")[2])
        return tuple(_other_number(value) if at == place else value for at, value in enumerate(given))
    if variation == "size of lists by 1":
        return tuple(map(_longer, given))
    if kind == "size":
        return _mapped(given, lambda tensor: _resized(tensor, variation))
    return _mapped(given, _float_of_whole if variation == _OF_WHOLE else _strided if kind == "strided" else _double)


def _first_and_last(tensor: torch.Tensor, first: float, last: float) -> torch.Tensor:
    changed = tensor.clone(memory_format=torch.contiguous_format).flatten()
    if len(changed):
        changed[0], changed[-1] = first, last
    return changed.view(tensor.shape)


_NUMBERS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "zero": torch.zeros_like,
    "negative": lambda tensor: -tensor.abs(),
    "nan": lambda tensor: _first_and_last(tensor, float("nan"), float("nan")),
    "inf": lambda tensor: _first_and_last(tensor, float("inf"), float("-inf")),
    "large": lambda tensor: tensor * 1e4,
}


def _with_numbers(given: Any, change: Callable[[torch.Tensor], torch.Tensor], *, integers: bool = False) -> None:
    """Put other numbers into the same memory, so that inputs share it as before."""

    def changed(tensor: Any, _place: str) -> Any:
        if isinstance(tensor, torch.Tensor) and (integers or tensor.dtype.is_floating_point or tensor.dtype.is_complex):
            with torch.no_grad():
                tensor.data.copy_(change(tensor.detach()))
        return tensor

    map_tensors(given, changed, "inputs")


def _mapped(given: tuple[Any, ...], change: Callable[[torch.Tensor], torch.Tensor]) -> tuple[Any, ...]:
    """Other tensors; the same one for one that is given twice."""
    made: dict[int, torch.Tensor] = {}

    def changed(tensor: Any, _place: str) -> Any:
        if not isinstance(tensor, torch.Tensor) or type(tensor) is not torch.Tensor:
            return tensor
        if id(tensor) not in made:
            other = change(tensor.detach())
            made[id(tensor)] = other.requires_grad_() if tensor.requires_grad else other
        return made[id(tensor)]

    found: tuple[Any, ...] = map_tensors(given, changed, "inputs")
    return found


def _resized(tensor: torch.Tensor, variation: str) -> torch.Tensor:
    """With elements of its own at the new places: they stay in the range that the program expects."""
    _, wanted, _, by = variation.split() if not variation.startswith("size of all") else ("", "", "", "")
    for dim, size in itertools.chain(enumerate(tensor.shape)):
        if not wanted or size == int(wanted):
            new = int(by) if by else size + 1
            tensor = tensor.index_select(dim, torch.arange(new, device=tensor.device) * 7 % max(size, 1))
    return tensor.clone()


def _longer(value: Any) -> Any:
    """With one tensor more, where the value is a list or a dictionary of tensors."""
    held = list(value.values()) if type(value) is dict else value if type(value) is list else []
    if not held or not all(isinstance(each, torch.Tensor) for each in held):
        return value
    more = held[0].detach().clone().requires_grad_(held[0].requires_grad)
    return {**value, "one_more": more} if isinstance(value, dict) else [*value, more]


def _strided(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.repeat_interleave(2, -1)[..., ::2] if tensor.dim() else tensor


def _double(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.double() if tensor.dtype is torch.float32 else tensor


def _float_of_whole(tensor: torch.Tensor) -> torch.Tensor:
    is_whole = not (tensor.dtype.is_floating_point or tensor.dtype.is_complex or tensor.dtype is torch.bool)
    return tensor.float() if is_whole else tensor


def _other_number(value: Any) -> Any:
    return (not value) if isinstance(value, bool) else value + 1 if isinstance(value, int) else value * 1.5 + 0.5
