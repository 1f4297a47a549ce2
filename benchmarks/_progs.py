import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from repro_runner.explain.program import ProgramToRun
from repro_runner.fix_report.children import Children
from repro_runner.fix_report.judging import judge_patch
from repro_runner.fix_report.trial import TrialRunner

if __name__ == "__main__":
    name = sys.argv[1]
    src = Path("tests/repro_runner/fixtures/changes/programs").absolute() / name
    folder = Path(tempfile.mkdtemp())
    shutil.copytree(src, folder, dirs_exist_ok=True)
    os.chdir(folder)
    t = time.time()
    try:
        with (
            Children() as children,
            TrialRunner(ProgramToRun(script="before.py"), children=children, timeout=120) as trials,
        ):
            j = judge_patch(
                trials,
                {str(folder / "before.py"): ((folder / "before.py").read_text(), (folder / "after.py").read_text())},
                tell=lambda _: None,
            )
        print(f"{name} | {j.verdict} | {j.reason[:260]} | {time.time() - t:.0f}s", flush=True)
    except BaseException as e:
        print(f"{name} | ERROR {e!r:.300}", flush=True)
