"""From a model that fails to the smallest program that fails in the same way, run to prove it."""

from repro_runner.minifier.minify import minify_model, search_failure
from repro_runner.minifier.result import Failure, MinifiedProgram, NotMinified, Search, minified_document, write_search

__all__ = [
    "Failure",
    "MinifiedProgram",
    "NotMinified",
    "Search",
    "minified_document",
    "minify_model",
    "search_failure",
    "write_search",
]
