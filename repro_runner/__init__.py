"""Everything that runs or watches torch; the only package that may import it."""
