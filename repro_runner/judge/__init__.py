"""Whether a change keeps what a program does. One judge for `run`, `score`, `explain --fix` and `explain --try`.

A child runs the program and records what it does, as data (`recording`, `state`, `surroundings`, `leaves`). Another
process, which loads no code of the program, compares two such observations (`comparing`) and gives the verdict.
"""
