"""Produce and fetch, measured beside real Kafka: ``python -m bench``."""
