"""What a run of the pipeline shows: its progress on the terminal while it runs, and a report at the end."""
