"""A language model's explanation of a break, and its patch, believed only once it was run. Never on by default.

read_settings() says whom to ask, render_prompts() what would be sent, ask() sends it and tries the patches.
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
