"""What an engineer hands over: a report, repros of the breaks, and the program with its mechanical fixes, run."""

from repro_runner.fix_report.findings import Cause, Findings, Location, by_frequency, findings_of_program
from repro_runner.fix_report.folder import check_folder
from repro_runner.fix_report.writing import Handover, write_handover

__all__ = [
    "Cause",
    "Findings",
    "Handover",
    "Location",
    "by_frequency",
    "check_folder",
    "findings_of_program",
    "write_handover",
]
