"""The graphs that a model becomes under torch.compile."""

from repro_runner.graphs.traced import Trace, TracedGraph, trace_model, tracing_backend

__all__ = ["Trace", "TracedGraph", "trace_model", "tracing_backend"]
