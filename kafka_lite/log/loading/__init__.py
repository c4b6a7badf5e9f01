"""Opens logs: cleans up after a crash, loads segments, recovers what was not flushed."""
