"""The output of a run of the pipeline: its progress on the terminal while it runs, and a report at the end."""
