"""Shared basics: time, errors, configuration, threads, schedulers. Imports nothing else from kafka_lite."""
