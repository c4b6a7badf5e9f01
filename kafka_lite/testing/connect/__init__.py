"""Workers of Kafka Connect inside a test's process.

Kafka 2.3: connect/runtime/src/test/.../connect/util/clusters · book 8.3.1
"""
