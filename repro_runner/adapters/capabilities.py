"""What a device can do, as data."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from repro_runner.constraints import Constraint
from repro_runner.constraints.base import Setting, constraints_with_settings

Dtypes = Collection[torch.dtype | str]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpRule:
    """Limits on some ops alone: on what they produce or, if `arguments` names some, on what they are given."""

    ops: Collection[str]
    arguments: Collection[str | int] | None = None
    """Names in the ops' schemas, or positions."""
    dims: Collection[int] | None = None
    """This and the next two are about `alignment`, as ShapeConstraint takes them; None is its default."""
    spare_ones: bool | None = None
    unit: str | None = None
    dtypes: Dtypes | None = None
    alignment: int | None = None
    layouts: Collection[str] | None = None
    max_tensor_bytes: int | None = None

    limits: Mapping[str, Any] = field(default_factory=dict)
    """Limits, and options of them, that have no field here, by their key in a capability file."""

    def constraints(self) -> Iterator[Constraint]:
        """One for each limit that is set, on these ops alone."""
        for kind, setting in known_settings(in_rules=True):
            if (value := _value(self, setting)) is not None and value not in setting.no_limit:
                options = _options(self, {name: name for name in setting.options})
                yield kind.from_setting(value, ops=self.ops, arguments=self.arguments, **options)


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceleratorCapabilities:
    """A device's limits; None is no limit. Ops, dtypes and layouts are named as in `repro_runner.constraints`, which
    refuses unknown names."""

    name: str = "accelerator"
    supported_dtypes: Dtypes | None = None
    supported_ops: Collection[str] | None = None
    """`core-aten` among them stands for all of torch's core ops."""
    unsupported_ops: Collection[str] = ()
    max_memory_bytes: int | None = None
    """For all that a forward, or a backward, holds at once."""
    max_tensor_bytes: int | None = None
    alignment_requirement: int = 1
    """Every dimension of every tensor must be a multiple of it, in elements; use `rules` for some ops only."""
    alignment_dims: Collection[int] | None = None
    """This and the next two are as ShapeConstraint takes them; None is its default."""
    alignment_spare_ones: bool | None = None
    alignment_unit: str | None = None
    requires_contiguous: bool = False
    """The same as `layouts=["contiguous"]`."""
    layouts: Collection[str] | None = None
    supports_dynamic_shapes: bool = True
    rules: Collection[OpRule] = ()
    limits: Mapping[str, Any] = field(default_factory=dict)
    """Limits that have no field here, by their key in a capability file."""

    def __post_init__(self) -> None:
        self.constraints()

    def constraints(self) -> tuple[Constraint, ...]:
        """One for each limit that is set."""
        return tuple(self._own_constraints())

    def _own_constraints(self) -> Iterator[Constraint]:
        for kind, setting in known_settings():
            if (value := self._limit(setting)) is not None and value not in setting.no_limit:
                yield kind.from_setting(value, **_options(self, setting.option_keys()))
        for rule in self.rules:
            yield from rule.constraints()

    def _limit(self, setting: Setting) -> Any:
        if setting.field == "layouts" and (self.requires_contiguous or self.layouts is not None):
            return self.layouts or ["contiguous"]
        return _value(self, setting)


def known_settings(*, in_rules: bool = False) -> Iterator[tuple[type[Constraint], Setting]]:
    """Each constraint class that can be set, and its setting; with `in_rules`, only those that an OpRule can set."""
    for kind in constraints_with_settings():
        if kind.setting is not None and (kind.setting.in_rules or not in_rules):
            yield kind, kind.setting


def field_of(owner: type[OpRule | AcceleratorCapabilities], setting: Setting) -> str | None:
    """The owner's field that holds the value of a limit; None if the value is in its `limits`, under the key."""
    names = [each.name for each in dataclasses.fields(owner)]
    return next((name for name in (setting.field, setting.key) if name in names), None)


def _options(owner: OpRule | AcceleratorCapabilities, keys: Mapping[str, str]) -> dict[str, Any]:
    """Option -> its value, for those that are set; `keys` are their names here."""
    found = {option: getattr(owner, key, owner.limits.get(key)) for option, key in keys.items()}
    return {option: value for option, value in found.items() if value is not None}


def _value(owner: OpRule | AcceleratorCapabilities, setting: Setting) -> Any:
    name = field_of(type(owner), setting)
    return owner.limits.get(setting.key) if name is None else getattr(owner, name)
