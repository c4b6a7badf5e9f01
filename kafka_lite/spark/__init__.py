"""Spark reads and writes topics: the PySpark data source. Without a PySpark that fits, the import says what to do."""

from kafka_lite.spark.requirements import check_requirements

check_requirements()
