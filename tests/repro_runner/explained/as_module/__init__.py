"""A package that is run."""
