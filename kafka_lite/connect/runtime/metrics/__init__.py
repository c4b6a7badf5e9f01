"""The numbers of a worker, its connectors and its tasks, under Kafka's names.

Kafka 1.0: connect/runtime/.../connect/runtime/ConnectMetrics.java, KIP-196 · book 8.3.5
"""
