"""A process of the benchmark: the job comes on standard input, the result goes to the file that is named."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from registry.errors import InvalidInput
from repro_runner.bench.job import Job
from repro_runner.process.linux import die_with_parent


def main() -> None:
    """Write the result, or why there is none; whole or not at all."""
    die_with_parent()
    result = Path(sys.argv[1])
    unfinished = result.with_suffix(".part")
    unfinished.write_text(json.dumps(_done(Job.from_json(json.loads(sys.stdin.read())))), "utf-8")
    unfinished.replace(result)


def _done(job: Job) -> dict[str, Any]:
    try:
        if not job.model:
            from repro_runner.bench.break_cost import measure_break_cost

            return measure_break_cost(job)
        from repro_runner.bench.row import measure_row

        return measure_row(job)
    except InvalidInput as error:
        return {"failed": str(error)}
    except Exception as error:  # noqa: BLE001 - a model and a backend may raise anything, and it costs their row alone
        if isinstance(error, ModuleNotFoundError) and error.name == "transformers":
            return {"failed": "transformers is not installed; `pip install graph-break-registry[toolkit]`"}
        cause = getattr(error, "inner_exception", None) or error  # what a backend said, not what Dynamo says around it
        first = str(cause).strip().partition("\n")[0]
        return {"failed": f"{type(cause).__name__}: {first}" if first else type(cause).__name__}


if __name__ == "__main__":
    main()
