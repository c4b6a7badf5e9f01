"""``KafkaSource``, for sessions that register the format themselves.

Where kafka_lite is installed in the Python of Spark's workers, ``format("kafka_lite")`` needs no registration:
``pyspark_kafka_lite`` says how. A session that registers ``KafkaSource`` gets a better error if it is not.

Spark 4.2: python/pyspark/sql/datasource.py (DataSourceRegistration) · book 1.1
"""

from __future__ import annotations

from pyspark import cloudpickle

import pyspark_kafka_lite
from pyspark_kafka_lite import KafkaSource

__all__ = ["KafkaSource"]

# By value: a worker whose Python has no kafka_lite could not unpickle a reference, and Spark would show no more than
# "No module named 'pyspark_kafka_lite'".
cloudpickle.register_pickle_by_value(pyspark_kafka_lite)
