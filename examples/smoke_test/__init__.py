"""Kafka's smoke test of Streams, written on ours: an application whose answers a driver knows beforehand."""
