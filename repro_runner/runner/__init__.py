"""Isolate, run, verify, write evidence. The child's side needs only torch and the standard library."""
