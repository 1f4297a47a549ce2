"""Run repros on a Ray cluster: one Ray task per repro, in any free worker. Each worker keeps a pool.

The pool's server is a subprocess of the Ray worker, because a worker has threads and a fork of it can hang.
"""

from __future__ import annotations

import logging
import os
import socket
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import asdict
from pathlib import Path
from typing import Any

from repro_runner.environment import describe_environment
from repro_runner.process import Limits, Pool
from repro_runner.runner.machine import Finished, ReproRun, open_pool

_RETRIES = 3
_PATIENCE = 10.0
_ONE_ENVIRONMENT = ("torch", "python", "device_name", "platform")
"""These must be the same on all workers, because one evidence file describes one environment."""


class ClusterUnfit(Exception):
    """The repros can't be run on this cluster. The text says what to do."""


@contextmanager
def connected(device: str, *, isolate: str, limits: Limits, slots: int | None = None) -> Iterator[Cluster]:
    """Connect to the Ray cluster at RAY_ADDRESS (`auto`: one that runs on this machine), or start one on this machine.

    Raises ClusterUnfit if no cluster answers, Ray is not installed, or no node has the device.
    """
    with redirect_stdout(sys.stderr):  # Ray reports dead workers with print()
        ray = _connect()
        try:
            resource = "GPU" if device == "cuda" else "CPU"
            room = int(ray.cluster_resources().get(resource, 0))
            if not room:
                raise ClusterUnfit(f"no node of the Ray cluster has a {resource} to give; add one that has")
            yield Cluster(ray, device, isolate, limits, slots or room)
        finally:
            ray.shutdown()


class Cluster:
    """Runs jobs in the workers of a Ray cluster."""

    def __init__(self, ray: Any, device: str, isolate: str, limits: Limits, slots: int) -> None:
        self._ray, self._device, self._isolate, self._limits, self._slots = ray, device, isolate, limits, slots

    def environment(self) -> dict[str, str]:
        """The environment of a worker: this machine may have no GPU and another torch. May raise ClusterUnfit."""
        try:
            found: dict[str, str] = self._ray.get(self._task(describe_environment).remote(self._device))
        except self._ray.exceptions.RayTaskError as error:
            raise ClusterUnfit(f"on the cluster: {error.cause}") from error
        self._environment = found
        return found

    def run(self, jobs: Sequence[ReproRun], started: Callable[[str], None] = lambda _: None) -> Iterator[Finished]:
        """Yield each job as it ends. If its worker or node dies, a job is run again in another worker."""
        task = self._task(_run_in_worker)
        waiting = deque(jobs)
        running: list[Any] = []
        # The types are the same for all jobs and large, so they are sent once.
        types = self._ray.put(dict(jobs[0].other_types) if jobs else {})
        while waiting or running:
            while waiting and len(running) < self._slots:
                job = waiting.popleft()
                started(job.key)
                bare = {**asdict(job), "other_types": {}}
                running.append(task.remote(bare, types, self._isolate, asdict(self._limits), self._environment))
            (ended,), running = self._ray.wait(running)
            try:
                yield Finished(**self._ray.get(ended))
            except self._ray.exceptions.RayTaskError as error:
                raise ClusterUnfit(f"on the cluster: {error.cause}") from error
            except self._ray.exceptions.RayError:
                continue  # its workers died in every attempt: the command reports the job as not run

    def _task(self, function: Callable[..., Any]) -> Any:
        resource = {"num_gpus": 1} if self._device == "cuda" else {"num_cpus": 1}
        return self._ray.remote(max_retries=_RETRIES, **resource)(function)


def _connect() -> Any:
    address = os.environ.get("RAY_ADDRESS", "local")
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and not _answers(host, port):
        raise ClusterUnfit(f"RAY_ADDRESS is {address}, where nothing answers; unset it to use this machine")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if address == "local" or host in ("127.0.0.1", "localhost"):
        # This makes Ray use this machine only. Otherwise it listens on the network and looks for other nodes.
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    try:
        import ray
    except ImportError as error:
        raise ClusterUnfit("--executor ray needs Ray: `pip install graph-break-registry[ray]`") from error
    package = Path(__file__).resolve().parents[1]
    try:
        ray.init(
            address,
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.ERROR,
            runtime_env={"py_modules": [str(package)]},  # workers on other machines use this version of the package
        )
    except (ConnectionError, RuntimeError) as error:
        raise ClusterUnfit(f"RAY_ADDRESS is {address}, but: {error}") from error
    return ray


def _answers(host: str, port: str) -> bool:
    try:
        socket.create_connection((host, int(port)), timeout=_PATIENCE).close()
    except (OSError, ValueError):
        return False
    return True


_warm: dict[tuple[Any, ...], Pool] = {}
"""The pools of this Ray worker. They end when the worker ends, even if the worker is killed."""


def _run_in_worker(
    job: dict[str, Any], types: dict[str, str], isolate: str, limits: dict[str, Any], environment: dict[str, str]
) -> dict[str, Any]:
    """Run a job in the pool of this Ray worker. The first job starts the pool."""
    key = (job["device"], isolate, *limits.values(), os.environ.get("CUDA_VISIBLE_DEVICES"))
    if key not in _warm:
        _require_same_environment(environment, describe_environment(job["device"]))
        _warm[key] = open_pool(job["device"], isolate=isolate, limits=Limits(**limits)).__enter__()
    _warm[key].submit(ReproRun(**{**job, "other_types": types}).to_job())
    for ended in _warm[key].results():
        return asdict(Finished.of(ended))
    os._exit(1)  # the pool died: when this worker ends, Ray runs the job in another


def _require_same_environment(wanted: dict[str, str], found: dict[str, str]) -> None:
    if different := [name for name in _ONE_ENVIRONMENT if found[name] != wanted[name]]:
        here, there = (", ".join(f"{name} {one[name]}" for name in different) for one in (found, wanted))
        raise ClusterUnfit(f"one worker has {here}, another {there}; a run is of one environment")
