"""Spark reads and writes topics: the PySpark data source, and the jobs built on it."""
