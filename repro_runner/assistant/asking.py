"""Ask a model about the costliest breaks of a program, and try what it proposes."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from registry.advice import Answers
from repro_runner.assistant.client import COSTLIEST, NoReply, Settings, request_reply
from repro_runner.assistant.patch_rules import find_dodges, find_refusals
from repro_runner.assistant.prompt import Excerpt, read_excerpt, render_excerpt, render_prompt
from repro_runner.assistant.reply import ModelReply, NotUnderstood, apply_blocks, parse_reply
from repro_runner.explain.report import Report
