"""Read breaks from text logs, structured traces, tt-xla logs and tracebacks. This package does not need torch."""
