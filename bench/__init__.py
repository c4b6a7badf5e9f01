"""Benchmarks that compare kafka_lite with real Kafka: ``python -m bench``."""
