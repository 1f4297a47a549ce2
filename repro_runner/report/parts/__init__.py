"""The parts of a report: for each kind of document a verdict in one line, and what its template shows."""
