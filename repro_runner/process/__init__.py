"""Children: run a task in a process of its own, within limits, and say how it ended. No torch here.

`Pool` runs tasks of this project, forked from a warm process or fresh; `run_command` runs any program.
"""

from __future__ import annotations

from repro_runner.process.command import run_command
from repro_runner.process.pool import Pool, PoolDied, Service, importable_environment
from repro_runner.process.supervise import Ended, Job, Limits, Output

__all__ = ["Ended", "Job", "Limits", "Output", "Pool", "PoolDied", "Service", "importable_environment", "run_command"]
