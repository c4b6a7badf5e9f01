"""The REST interface of a worker: connectors are created, changed, watched and deleted over HTTP.

Kafka 0.10.2: connect/runtime/.../connect/runtime/rest · book 8.3.1
"""
