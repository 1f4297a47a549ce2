"""Ask a language model to explain a break and to write a patch. A patch counts only after it was run. Off by default.

read_settings() reads which server to ask. render_prompts() shows what would be sent. ask() sends it and tries patches.
"""

from repro_runner.assistant.asking import ask, render_prompts
from repro_runner.assistant.client import Settings, read_settings
from repro_runner.assistant.prompt import render_prompt
from repro_runner.explain.site import NO_ANSWER, NOT_VERIFIED, VERIFIED, Suggestion

__all__ = [
    "NOT_VERIFIED",
    "NO_ANSWER",
    "VERIFIED",
    "Settings",
    "Suggestion",
    "ask",
    "read_settings",
    "render_prompt",
    "render_prompts",
]
