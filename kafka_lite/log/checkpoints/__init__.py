"""Small text files that remember offsets over a restart."""
