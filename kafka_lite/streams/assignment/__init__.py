"""Assigns tasks to the instances of an application, and the data that they exchange for it.

Kafka 0.10.2: streams/.../processor/internals/assignment · book 9.1.3
"""
