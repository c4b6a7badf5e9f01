"""Small text files that keep offsets across restarts."""
