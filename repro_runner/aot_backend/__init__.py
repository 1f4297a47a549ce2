"""The mock accelerator on top of Inductor."""

from repro_runner.aot_backend.mock import aot_mock_backend

__all__ = ["aot_mock_backend"]
