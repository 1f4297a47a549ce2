"""Fix reports: a text report, repros of the breaks, and a fixed copy of the program that was run."""

from repro_runner.fix_report.children import Children
from repro_runner.fix_report.findings import Cause, Findings, causes_of, findings_of_logs, findings_of_program
from repro_runner.fix_report.measuring import measure_program
from repro_runner.fix_report.writing import FixReport, check_folder, write_fix_report

__all__ = [
    "Cause",
    "Children",
    "Findings",
    "FixReport",
    "causes_of",
    "check_folder",
    "findings_of_logs",
    "findings_of_program",
    "measure_program",
    "write_fix_report",
]
