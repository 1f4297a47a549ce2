"""Text logs, structured traces, tt-xla logs and tracebacks -> the same breaks. No torch here."""
