"""A graph break as a repro: the function that broke, with what it needs, cut down to what still breaks."""
