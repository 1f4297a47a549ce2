"""How a mock backend reports a program that the device would refuse: an error, a warning, or a list to collect."""

from __future__ import annotations

import contextlib
import inspect
import warnings
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from repro_runner.constraints import Violation
from repro_runner.output.units import counted
from repro_runner.torch_seams import ShortenTraceback

_collections: ContextVar[tuple[list[Violation], ...]] = ContextVar("collections", default=())


class MockBackendError(ShortenTraceback):  # type: ignore[misc]
    """A RuntimeError, of the kind that Dynamo hands to the user as it is; others it wraps in BackendCompilerFailed."""

    def __init__(self, message: str, first_useful_frame: FrameType | None = None) -> None:
        super().__init__(message, first_useful_frame=first_useful_frame)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduction:
    """A script that fails as a refused graph does."""

    path: Path
    remark: str
    """How large it is, and whether it was run."""

    def __str__(self) -> str:
        return f"reproduction: {self.path} ({self.remark})"


class ConstraintViolations(MockBackendError):
    """The device would refuse this program; `violations` are all the reasons, `script` is a reproduction of one."""

    def __init__(
        self,
        violations: Sequence[Violation],
        first_useful_frame: FrameType | None = None,
        script: Reproduction | None = None,
    ) -> None:
        super().__init__(_listing(violations), first_useful_frame)
        self.violations = tuple(violations)
        self.script = script

    def __str__(self) -> str:
        """Dynamo adds lines to the message on its way to the user; the script is named after these."""
        said = super().__str__()
        return said if self.script is None else f"{said.rstrip()}\n{self.script}"


class MalformedSettings(MockBackendError):
    """An environment variable or an option that makes no sense; the message names all of them."""


class ConstraintWarning(UserWarning):
    """The device would refuse this program, but it runs, since MOCK_STRICT=0."""


@contextlib.contextmanager
def collect_violations() -> Iterator[list[Violation]]:
    """Collect what every mock backend of this thread finds inside the block, strict or not."""
    found: list[Violation] = []
    token = _collections.set((*_collections.get(), found))
    try:
        yield found
    finally:
        _collections.reset(token)


def report_violations(found: tuple[Violation, ...], *, strict: bool, script: Reproduction | None = None) -> None:
    """Add them to every active collection; then raise ConstraintViolations if `strict`, else warn once."""
    for collection in _collections.get():
        collection.extend(found)
    if found and strict:
        raise ConstraintViolations(found, inspect.currentframe(), script)
    if found:
        warnings.warn(_listing(found), ConstraintWarning, stacklevel=2)


def _listing(violations: Sequence[Violation]) -> str:
    return "\n  ".join([f"{counted(len(violations), 'violation')} of the device's limits:", *map(str, violations)])
