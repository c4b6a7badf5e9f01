"""One worker by itself, whose connectors are given on the command line.

Kafka 0.10.2: connect/runtime/.../connect/runtime/standalone · book 8.3.4
"""
