"""Producer state: what a log stores about idempotent producers, snapshots of it, aborted transactions."""
