"""Ask a language model to explain a break and to write a patch. A patch counts only after it was run. Off by default.

read_settings() reads which server to ask. render_prompts() shows what would be sent. ask() sends it and tries patches.
"""

from registry.model import HOLDS, HOLDS_FOR_WHAT_RAN, REFUSED
from repro_runner.assistant.asking import ask, render_prompts
from repro_runner.assistant.client import Settings, read_settings
from repro_runner.assistant.prompt import render_prompt
from repro_runner.explain.site import NO_ANSWER, Suggestion

__all__ = [
    "HOLDS",
    "HOLDS_FOR_WHAT_RAN",
    "NO_ANSWER",
    "REFUSED",
    "Settings",
    "Suggestion",
    "ask",
    "read_settings",
    "render_prompt",
    "render_prompts",
]
