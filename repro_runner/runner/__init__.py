"""Run repros in child processes and verify their fixes. In a child, torch is the only third-party package in use."""
