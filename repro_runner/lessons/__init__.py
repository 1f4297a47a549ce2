"""Run lessons: the programs in `examples/`, cell by cell, as a notebook runs them."""
