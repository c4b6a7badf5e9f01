"""What the log manager is made of: loading all directories, checkpoints, configurations, background tasks, copies."""
