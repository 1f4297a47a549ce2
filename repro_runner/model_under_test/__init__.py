"""The user's model, and what to call it with."""

from repro_runner.model_under_test.loading import arguments_of, import_source, load_model
from repro_runner.model_under_test.model import ModelFailed, ModelUnderTest

__all__ = ["ModelFailed", "ModelUnderTest", "arguments_of", "import_source", "load_model"]
