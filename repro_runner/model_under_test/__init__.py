"""The user's model, and what to call it with."""

from repro_runner.model_under_test.loading import arguments_of, import_source, load_subject
from repro_runner.model_under_test.model import ModelFailed, Subject, tensors_in

__all__ = ["ModelFailed", "Subject", "arguments_of", "import_source", "load_subject", "tensors_in"]
