"""Runs the pipeline as ``make pipeline`` does: broker, Spark, queries, replay, view and report."""
