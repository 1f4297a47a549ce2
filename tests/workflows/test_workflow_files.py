"""The workflow files are valid, pinned, bounded in time and rights, and put no outside text into a shell line."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

GITHUB = Path(__file__).parents[2] / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
SCRIPTS = sorted((GITHUB / "scripts").glob("*.sh"))

PERMISSIONS = {
    "graph-breaks.yml": {"example": {"contents": "read"}},
    "matrix.yml": {
        "run": {"contents": "read"},
        "report": {"contents": "read", "issues": "write"},
        "evidence": {"contents": "write", "pull-requests": "write"},
    },
    "refresh.yml": {
        "refresh": {"contents": "write"},
        "pages": {"contents": "read", "pages": "write", "id-token": "write"},
    },
    "pages.yml": {
        "build": {"contents": "read", "pages": "read"},
        "deploy": {"pages": "write", "id-token": "write"},
    },
    "prove.yml": {"prove": {"contents": "read"}},
    "repros.yml": {
        "run": {"contents": "read"},
        "publish": {"contents": "write", "pull-requests": "write"},
    },
    "test.yml": {
        "quick": {"contents": "read"},
        "full": {"contents": "read"},
    },
}

each_workflow = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)


def read_workflow(path: Path) -> dict[str, Any]:
    """Return the parsed file; `on`, which YAML 1.1 reads as true, under its own name."""
    workflow: dict[Any, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    workflow["on"] = workflow.pop(True)
    return workflow


def steps(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, job in read_workflow(path)["jobs"].items():
        for number, step in enumerate(job.get("steps", []), 1):
            yield f"{path.name}: {name}, step {number}", step


def test_the_seven_workflows_are_there() -> None:
    assert {path.name for path in WORKFLOWS} == set(PERMISSIONS)


@pytest.mark.parametrize(
    ("schema", "path"),
    [("github-workflows", path) for path in WORKFLOWS] + [("dependabot", GITHUB / "dependabot.yml")],
    ids=lambda value: getattr(value, "name", value),
)
def test_the_file_fits_githubs_schema(schema: str, path: Path) -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_action_is_pinned_to_one_commit_with_its_version_beside_it() -> None:
    pins: dict[str, set[str]] = {}
    for path in WORKFLOWS:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if not (uses := re.match(r"\s*(?:- )?uses:\s*(.+)", line)) or uses[1].startswith("./.github/"):
                continue
            pinned = re.fullmatch(r"([\w.-]+/[\w./-]+)@([0-9a-f]{40} # v\d+\.\d+\.\d+)", uses[1])
            assert pinned, f"{path.name}:{number}: write `owner/action@<40 hex digits> # vX.Y.Z`, not `{uses[1]}`"
            pins.setdefault(pinned[1], set()).add(pinned[2])
    assert len(pins) == 8
    assert [action for action, versions in pins.items() if len(versions) > 1] == []


@each_workflow
def test_every_job_ends_by_itself(path: Path) -> None:
    # A job that calls another workflow may not have a limit of its own; the jobs it calls do.
    jobs = read_workflow(path)["jobs"]
    longest = 300 if path.name == "prove.yml" else 60
    assert [
        name for name, job in jobs.items() if "uses" not in job and not 0 < job.get("timeout-minutes", 0) <= longest
    ] == []


@each_workflow
def test_each_job_has_exactly_the_rights_it_needs(path: Path) -> None:
    workflow = read_workflow(path)
    assert workflow["permissions"] == {}
    assert {name: job["permissions"] for name, job in workflow["jobs"].items()} == PERMISSIONS[path.name]


def test_only_jobs_that_push_keep_their_credentials() -> None:
    keeps = {
        where: step["with"]["persist-credentials"]
        for path in WORKFLOWS
        for where, step in steps(path)
        if step.get("uses", "").startswith("actions/checkout@")
    }
    assert len(keeps) == 10
    assert [where for where, kept in keeps.items() if kept] == [
        "refresh.yml: refresh, step 1",
        "repros.yml: publish, step 1",
    ]


@each_workflow
def test_no_expression_is_pasted_into_a_shell_line(path: Path) -> None:
    # Any `${{ }}` and not only github.event: values go through env, where the shell does not read them as code.
    assert [where for where, step in steps(path) if "${{" in step.get("run", "")] == []


@each_workflow
def test_run_blocks_are_bash(path: Path) -> None:
    for where, step in steps(path):
        if "run" in step:
            done = subprocess.run(["bash", "-n"], input=step["run"], capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"{where}: {done.stderr}"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_scripts_are_strict_executable_bash(script: Path) -> None:
    assert script.stat().st_mode & 0o111
    assert "\nset -euo pipefail\n" in script.read_text(encoding="utf-8")
    subprocess.run(["bash", "-n", str(script)], check=True)


def test_nothing_that_pushes_or_deploys_is_cut_off() -> None:
    refresh = read_workflow(GITHUB / "workflows/refresh.yml")["jobs"]["refresh"]["concurrency"]
    pages = read_workflow(GITHUB / "workflows/pages.yml")["concurrency"]
    repros = read_workflow(GITHUB / "workflows/repros.yml")["concurrency"]
    matrix = read_workflow(GITHUB / "workflows/matrix.yml")["concurrency"]
    assert repros["cancel-in-progress"] is False
    assert matrix["cancel-in-progress"] is False
    assert refresh["cancel-in-progress"] is False
    assert pages["cancel-in-progress"] is False
    # A run that holds the group which the workflow it calls waits for would be a deadlock.
    assert not refresh["group"].startswith(pages["group"])
    assert matrix["group"] != repros["group"]
    # A waiting run is displaced by the next of its group, so a group holds one kind of start only.
    assert "github.event_name" in refresh["group"]
    assert "github.event.schedule" in refresh["group"]


def test_a_pull_requests_older_run_is_replaced() -> None:
    assert read_workflow(GITHUB / "workflows/test.yml")["concurrency"]["cancel-in-progress"] is True


def test_refresh_runs_every_five_minutes_daily_and_after_an_edited_note() -> None:
    workflow = read_workflow(GITHUB / "workflows/refresh.yml")
    often, daily = (entry["cron"] for entry in workflow["on"]["schedule"])
    assert re.fullmatch(r"(\*|\d-5\d)/5 \* \* \* \*", often)
    assert re.fullmatch(r"\d+ \d+ \* \* \*", daily)
    assert workflow["on"]["push"] == {"branches": ["main"], "paths": ["docs/gb/**"]}
    assert "workflow_dispatch" in workflow["on"]
    # The expression repeats the daily line: GitHub gives the run no other sign of which line started it.
    [step] = (step for _, step in steps(GITHUB / "workflows/refresh.yml") if step.get("id") == "refresh")
    assert f"github.event.schedule == '{daily}'" in step["env"]["FULL"]


def test_what_refresh_pushed_is_published_even_when_its_job_failed() -> None:
    pages = read_workflow(GITHUB / "workflows/refresh.yml")["jobs"]["pages"]
    assert pages["uses"] == "./.github/workflows/pages.yml"
    assert "!cancelled()" in pages["if"]
    assert "needs.refresh.outputs.changed == 'true'" in pages["if"]
    assert "workflow_call" in read_workflow(GITHUB / "workflows/pages.yml")["on"]


@pytest.mark.parametrize(
    ("name", "job"), [("refresh.yml", "refresh"), ("pages.yml", "build"), ("repros.yml", "publish")]
)
def test_the_tip_is_checked_out_not_the_commit_that_started_the_run(name: str, job: str) -> None:
    steps = read_workflow(GITHUB / "workflows" / name)["jobs"][job]["steps"]
    checkouts = [step for step in steps if "actions/checkout@" in step.get("uses", "")]
    assert [step["with"]["ref"] for step in checkouts] == ["${{ github.ref_name }}"]


def job_of(workflow: str, name: str) -> dict[str, Any]:
    return dict(read_workflow(GITHUB / "workflows" / workflow)["jobs"][name])


def repros_job(name: str) -> dict[str, Any]:
    return job_of("repros.yml", name)


def test_repros_run_when_a_program_changed_and_when_matrix_finds_other_verdicts_in_a_release() -> None:
    workflow = read_workflow(GITHUB / "workflows/repros.yml")
    assert set(workflow["on"]) == {"push", "workflow_call", "workflow_dispatch"}
    assert workflow["on"]["push"] == {"branches": ["main"], "paths": ["registry/repros/**"]}
    calls = job_of("matrix.yml", "evidence")
    assert calls["uses"] == "./.github/workflows/repros.yml"
    assert calls["if"] == "${{ !cancelled() && needs.report.outputs.evidence == 'true' }}"
    assert job_of("matrix.yml", "report")["outputs"] == {"evidence": "${{ steps.verdicts.outputs.evidence }}"}


def test_every_week_the_newest_release_and_the_nightly_are_run() -> None:
    workflow = read_workflow(GITHUB / "workflows/matrix.yml")
    [weekly] = (entry["cron"] for entry in workflow["on"]["schedule"])
    assert re.fullmatch(r"[1-9]\d? \d+ \* \* [0-6]", weekly)
    assert list(workflow["on"]["workflow_dispatch"]["inputs"]) == ["nightly_index"]
    job = job_of("matrix.yml", "run")
    release, nightly = job["strategy"]["matrix"]["include"]
    assert release == {"torch": "release", "index": "https://download.pytorch.org/whl/cpu"}
    # On the schedule there are no inputs.
    index = "${{ inputs.nightly_index || 'https://download.pytorch.org/whl/nightly/cpu' }}"
    assert nightly == {"torch": "nightly", "index": index, "pre": "--pre"}
    assert job["strategy"]["fail-fast"] is False
    [install] = (step for step in job["steps"] if " torch " in step.get("run", ""))
    assert install["run"].endswith(' $PRE torch --index-url "$INDEX"')
    assert install["env"] == {"INDEX": "${{ matrix.index }}", "PRE": "${{ matrix.pre }}"}


def test_an_issue_is_written_only_on_main_and_nothing_of_matrix_runs_in_a_fork() -> None:
    run, report = job_of("matrix.yml", "run"), job_of("matrix.yml", "report")
    assert run["if"] == "${{ !github.event.repository.fork }}"
    assert report["if"] == "${{ !cancelled() && github.ref == 'refs/heads/main' && !github.event.repository.fork }}"
    assert (report["needs"], job_of("matrix.yml", "evidence")["needs"]) == ("run", "report")


def test_what_takes_longer_than_the_tests_may_is_proved_weekly() -> None:
    workflow = read_workflow(GITHUB / "workflows/prove.yml")
    [weekly] = (entry["cron"] for entry in workflow["on"]["schedule"])
    assert re.fullmatch(r"[1-9]\d? \d+ \* \* [0-6]", weekly)
    assert "workflow_dispatch" in workflow["on"]
    job = workflow["jobs"]["prove"]
    assert job["strategy"] == {"fail-fast": False, "matrix": {"part": ["inductor", "not inductor"]}}
    assert job["steps"][-1] == {
        "env": {"PART": "${{ matrix.part }}"},
        "run": "make prove PROVE=\"-k '$PART'\"",
    }


def test_every_shard_runs_and_none_ends_another() -> None:
    strategy = repros_job("run")["strategy"]
    shards = read_workflow(GITHUB / "workflows/repros.yml")["env"]["SHARDS"]
    assert strategy["fail-fast"] is False
    assert strategy["matrix"] == {"shard": list(range(1, shards + 1))}
    # The same commit for all of them, and so the same programs dealt out: the tip may move in between.
    assert "ref" not in repros_job("run")["steps"][0]["with"]


def test_repros_run_on_the_newest_torch_for_cpu() -> None:
    [install] = (step["run"] for step in repros_job("run")["steps"] if " torch " in step.get("run", ""))
    assert install.endswith(" torch --index-url https://download.pytorch.org/whl/cpu")


def test_a_shard_that_is_cut_off_is_uploaded_and_the_others_are_merged() -> None:
    *_, run, upload = repros_job("run")["steps"]
    assert run["timeout-minutes"] < repros_job("run")["timeout-minutes"]
    assert "continue-on-error" not in run
    assert upload["if"] == "${{ !cancelled() }}"
    assert upload["with"]["if-no-files-found"] == "error"
    assert "!cancelled()" in repros_job("publish")["if"]
    assert repros_job("publish")["needs"] == "run"


def test_no_pull_request_is_opened_from_another_branch_or_in_a_fork() -> None:
    condition = repros_job("publish")["if"]
    assert "&& github.ref == 'refs/heads/main' && !github.event.repository.fork" in condition


@pytest.mark.parametrize(
    ("exits", "green", "times"),
    [
        ("0", True, 1),
        ("1 0", True, 2),  # a program failed, and has its record
        ("1 1 0", True, 3),  # some had not run; the second look ran them, and one failed
        ("1 1 1", False, 3),
        ("2 2 2", False, 3),
        ("137 137 137", False, 3),
    ],
)
def test_a_run_is_green_exactly_when_every_program_has_a_record(
    exits: str, green: bool, times: int, tmp_path: Path
) -> None:
    stand_in = tmp_path / "graphbreak"
    stand_in.write_text('#!/bin/sh\necho "$@" >>calls\nexit "$(echo $EXITS | cut -d " " -f "$(wc -l <calls)")"\n')
    stand_in.chmod(0o755)
    done = subprocess.run(
        [str(GITHUB / "scripts/run_whole.sh"), "shard-2.json", "--shard", "2/4"],
        cwd=tmp_path,
        env={"PATH": f"{tmp_path}:/usr/bin:/bin", "EXITS": exits},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode == 0) is green, done.stderr
    calls = (tmp_path / "calls").read_text().splitlines()
    assert calls == ["run --shard 2/4 --out shard-2.json --resume"] * times


@pytest.mark.parametrize(
    ("workflow", "environment", "command"),
    [
        (
            "repros.yml",
            {"SHARD": "${{ matrix.shard }}"},
            'run_whole.sh "shard-$SHARD.json" --backend all --shard "$SHARD/$SHARDS"',
        ),
        ("matrix.yml", {"TORCH": "${{ matrix.torch }}"}, 'run_whole.sh "$TORCH.json"'),
    ],
)
def test_what_is_run_is_whole(workflow: str, environment: dict[str, str], command: str) -> None:
    [step] = (step for step in job_of(workflow, "run")["steps"] if "run_whole.sh" in step.get("run", ""))
    assert (step["env"], step["run"]) == (environment, f".github/scripts/{command}")


@pytest.mark.parametrize(
    ("workflow", "reader", "key", "script"),
    [("repros.yml", "publish", "shard", "evidence.sh"), ("matrix.yml", "report", "torch", "verdicts.sh")],
)
def test_the_two_jobs_agree_on_where_evidence_lies(workflow: str, reader: str, key: str, script: str) -> None:
    run, read = job_of(workflow, "run")["steps"], job_of(workflow, reader)["steps"]
    [upload] = (step["with"] for step in run if "upload-artifact@" in step.get("uses", ""))
    [download] = (step["with"] for step in read if "download-artifact@" in step.get("uses", ""))
    folder = download["pattern"].removesuffix("-*")
    assert upload["name"] == f"{folder}-${{{{ matrix.{key} }}}}"
    assert upload["path"] == f"{'shard-' if key == 'shard' else ''}${{{{ matrix.{key} }}}}.json"
    assert download["merge-multiple"] is True
    where = download["path"].replace("${{ runner.temp }}", "$RUNNER_TEMP")
    assert read[-1]["run"] == f'.github/scripts/{script} "{where}"'
