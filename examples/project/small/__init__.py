"""A small package with a model, its training and its tests, to copy from."""
