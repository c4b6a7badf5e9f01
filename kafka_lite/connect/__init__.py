"""Kafka Connect: connectors that copy data into and out of Kafka, and the workers that run them.

A connector's author needs :mod:`kafka_lite.connect.api` only.

Kafka 0.10.2: connect · book 8.3
"""
