"""The parts of the log manager: loading all directories, checkpoints, configurations, background tasks, copies."""
