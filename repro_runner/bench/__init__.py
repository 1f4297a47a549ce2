"""Models under several backends, and what a break costs. Only what runs in a child process needs torch."""
