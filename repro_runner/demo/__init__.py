"""A guided tour of the toolkit on a tiny model."""
