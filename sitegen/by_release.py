"""What a page says of each torch release. Readers choose theirs; without a choice, or a script, it is the newest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from registry.model import Registry

T = TypeVar("T")


def choices(registry: Registry) -> tuple[str, ...]:
    """The releases that a reader can choose, newest first: those with which programs were run, and the newest.

    Where no release is known there is one, without a name.
    """
    newest_first = registry.releases[::-1] or ("",)
    ran = {one.torch for one in registry.environments}
    return tuple(torch for torch in newest_first if torch in ran or torch == newest_first[0])


@dataclass(frozen=True, slots=True)
class Variant(Generic[T]):
    """What is said of some releases in the same words."""

    value: T
    releases: tuple[str, ...]
    shown: bool
    """Until the reader chooses another release."""
    alone: bool
    """It is said of every release."""

    @property
    def attributes(self) -> str:
        """Of the element that shows it; templates/scripts/my-torch.js reads them."""
        if self.alone:
            return ""
        return f' data-torch="{" ".join(self.releases)}"{"" if self.shown else " hidden"}'


def variants(releases: Sequence[str], of: Callable[[str], T]) -> list[Variant[T]]:
    """What to say of each release; that of the first is shown, and equal ones are one."""
    said: list[tuple[T, list[str]]] = []
    for torch in releases:
        value = of(torch)
        same = next((names for known, names in said if known == value), None)
        if same is None:
            said.append((value, [torch]))
        else:
            same.append(torch)
    return [Variant(value, tuple(names), at == 0, len(said) == 1) for at, (value, names) in enumerate(said)]
