"""What a log knows of its idempotent producers: their state, its snapshots, aborted transactions."""
