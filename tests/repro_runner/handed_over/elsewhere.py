# mypy: ignore-errors
"""What another file of the project does: its break is not in the program's own file."""

import threading


class Queue:
    """Something that nobody can write down as an expression."""

    __slots__ = ("lock",)

    def __init__(self):
        self.lock = threading.Lock()


def measured(x, queue):
    with queue.lock:  # GB0142
        return x + 1
