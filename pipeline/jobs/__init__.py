"""The jobs of the pipeline: pure functions from streaming (or batch) DataFrames to DataFrames."""
