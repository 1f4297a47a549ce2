"""Run tasks in child processes, within limits, and report how each ended. This package does not import torch.

`Pool` runs tasks of this project. A child is forked from a process that has imported torch, or is a new process.
`isolated` does so for a user's model: what goes wrong there is one line.
`run_command`, `run_attached` and `Background` run any program; `in_fork` keeps what some code does away from the
rest of a child.
"""

from __future__ import annotations

from repro_runner.process.background import Background
from repro_runner.process.command import module_command, run_attached, run_command
from repro_runner.process.linux import free_memory, in_fork
from repro_runner.process.pool import Pool, PoolDied, Service, importable_environment, temporary_folder
from repro_runner.process.supervise import Ended, Job, Limits, Output

__all__ = [
    "Background",
    "Ended",
    "Job",
    "Limits",
    "Output",
    "Pool",
    "PoolDied",
    "Service",
    "free_memory",
    "importable_environment",
    "in_fork",
    "module_command",
    "run_attached",
    "run_command",
    "temporary_folder",
]
