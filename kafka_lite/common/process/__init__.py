"""The running process: its identity, its loggers, its memory and its open files."""
