"""What a run leaves on disk: one folder per run, with these files, each there only if its part ran.

run.json          which verb, on what, where, and when
breaks.json       graph breaks, with ids
violations.json   what the device would refuse
op_support.json   per aten op: how often, supported or not and why; the partition and its transfers
numerics.json     comparison with the reference; its pictures are in numerics/
guards.json       per compiled graph its guards; recompiles
bench.json        measurements of models
break_cost.json   measurements of what a break costs
minified.json     the smallest failing program; the program itself is in minified/
failures.json     parts that were run and failed, each with the reason
traceback.txt     where a process died, or a backend raised
report.html       all of it in one page; report.json: in one document, kind `report`
graphs/0000/      per compiled graph: graph.json; pre_aot, forward and backward as .txt and .svg; inductor/forward/ …

Beside the runs: report.html and report.json over several of them, kind `reports` (repro_runner/report/several.py).
Needs the standard library alone.
"""

from repro_runner.runs.run_folder import RunFolder, find_run, find_runs, keeps_runs, list_runs, runs_home

__all__ = ["RunFolder", "find_run", "find_runs", "keeps_runs", "list_runs", "runs_home"]
