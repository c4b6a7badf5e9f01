"""MirrorMaker in the simulator: mirrors are killed and paused, and lose their broker. Not in Kafka."""
