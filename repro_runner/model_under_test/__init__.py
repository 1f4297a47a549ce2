"""The user's model, and what to call it with."""

from repro_runner.model_under_test.calls import find_calls, read_calls
from repro_runner.model_under_test.loading import arguments_of, import_source, load_model
from repro_runner.model_under_test.model import Call, ModelFailed, ModelUnderTest

__all__ = [
    "Call",
    "ModelFailed",
    "ModelUnderTest",
    "arguments_of",
    "find_calls",
    "import_source",
    "load_model",
    "read_calls",
]
