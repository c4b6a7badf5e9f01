"""Spark's sources of Kafka topics: ours beside Spark's own connector."""
