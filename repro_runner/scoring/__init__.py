"""Score answers to the fix benchmark (registry/fix_benchmark.py): each is checked as the fixes of the registry are."""
