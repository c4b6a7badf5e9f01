"""MirrorMaker in the simulator: mirrors are killed and paused, and lose the source or the target. Not in Kafka."""
