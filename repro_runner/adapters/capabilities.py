"""What a device can do, as data."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from repro_runner.adapters.limits import StaticShapesConstraint, SupportedOpsConstraint
from repro_runner.constraints import (
    Constraint,
    DtypeConstraint,
    LayoutConstraint,
    MemoryConstraint,
    PeakMemoryConstraint,
    ShapeConstraint,
    UnsupportedOpsConstraint,
)

Dtypes = Collection[torch.dtype | str]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpRule:
    """Limits on some ops alone: on what they produce or, if `arguments` names some, on what they are given."""

    ops: Collection[str]
    arguments: Collection[str | int] | None = None
    """Names in the ops' schemas, or positions."""
    dims: Collection[int] | None = None
    """The dimensions that `alignment` is about; all if None."""
    dtypes: Dtypes | None = None
    alignment: int | None = None
    layouts: Collection[str] | None = None
    max_tensor_bytes: int | None = None

    def constraints(self) -> Iterator[Constraint]:
        where: dict[str, Any] = {"ops": self.ops, "arguments": self.arguments}
        if self.dtypes is not None:
            yield DtypeConstraint(self.dtypes, **where)
        if self.alignment is not None:
            yield ShapeConstraint(self.alignment, dims=self.dims, **where)
        if self.layouts is not None:
            yield LayoutConstraint(self.layouts, **where)
        if self.max_tensor_bytes is not None:
            yield MemoryConstraint(max_bytes=self.max_tensor_bytes, **where)


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
    """Every dimension of every tensor is a multiple of it; `rules` are for less."""
    requires_contiguous: bool = False
    """The same as `layouts=["contiguous"]`."""
    layouts: Collection[str] | None = None
    supports_dynamic_shapes: bool = True
    rules: Collection[OpRule] = ()

    def __post_init__(self) -> None:
        self.constraints()

    def constraints(self) -> tuple[Constraint, ...]:
        """One for each limit that is set."""
        return tuple(self._constraints())

    def _constraints(self) -> Iterator[Constraint]:
        if self.supported_ops is not None:
            yield SupportedOpsConstraint(self.supported_ops)
        if self.unsupported_ops:
            yield UnsupportedOpsConstraint(self.unsupported_ops)
        if self.supported_dtypes is not None:
            yield DtypeConstraint(self.supported_dtypes)
        if self.alignment_requirement != 1:
            yield ShapeConstraint(self.alignment_requirement)
        if self.layouts is not None or self.requires_contiguous:
            yield LayoutConstraint(self.layouts or ["contiguous"])
        if self.max_tensor_bytes is not None:
            yield MemoryConstraint(max_bytes=self.max_tensor_bytes)
        if self.max_memory_bytes is not None:
            yield PeakMemoryConstraint(max_bytes=self.max_memory_bytes)
        if not self.supports_dynamic_shapes:
            yield StaticShapesConstraint()
        for rule in self.rules:
            yield from rule.constraints()
