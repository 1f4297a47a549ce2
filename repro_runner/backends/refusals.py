"""How a mock backend reports a program that the device would refuse: an error, a warning, or a list to collect."""

from __future__ import annotations

import contextlib
import inspect
import warnings
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from types import FrameType

from repro_runner.constraints import Violation
from repro_runner.output.units import counted
from repro_runner.torch_seams import ShortenTraceback

_collections: ContextVar[tuple[list[Violation], ...]] = ContextVar("collections", default=())


class MockBackendError(ShortenTraceback):  # type: ignore[misc]
    """A RuntimeError, of the kind that Dynamo hands to the user as it is; others it wraps in BackendCompilerFailed."""

    def __init__(self, message: str, first_useful_frame: FrameType | None = None) -> None:
        super().__init__(message, first_useful_frame=first_useful_frame)


class ConstraintViolations(MockBackendError):
    """The device would refuse this program; `violations` are all the reasons."""

    def __init__(self, violations: Sequence[Violation], first_useful_frame: FrameType | None = None) -> None:
        super().__init__(_listing(violations), first_useful_frame)
        self.violations = tuple(violations)


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


def report_violations(found: tuple[Violation, ...], *, strict: bool) -> None:
    """Add them to every active collection; then raise ConstraintViolations if `strict`, else warn once."""
    for collection in _collections.get():
        collection.extend(found)
    if found and strict:
        raise ConstraintViolations(found, inspect.currentframe())
    if found:
        warnings.warn(_listing(found), ConstraintWarning, stacklevel=2)


def _listing(violations: Sequence[Violation]) -> str:
    return "\n  ".join([f"{counted(len(violations), 'violation')} of the device's limits:", *map(str, violations)])
