"""Mechanical fixes as edits of a program's text, by the positions of its syntax tree. No torch here, nothing is run."""
