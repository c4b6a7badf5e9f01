"""The history of a run and its checker, shared by the simulator and by tests with real processes.

Not in Kafka.
"""
