"""The PySpark data source for topics. Importing it raises an error with advice if PySpark is missing or too old."""

from kafka_lite.spark.requirements import check_requirements

check_requirements()
