"""A run, or everything about a model, in one HTML or JSON file. Reading and rendering need no torch."""

from repro_runner.report.contents import RunContents, join_documents, read_contents

__all__ = ["RunContents", "join_documents", "read_contents"]
