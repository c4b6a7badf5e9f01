"""The record caches of a thread: several changes of a key become one.

Kafka 0.10.2: streams/.../state/internals (ThreadCache.java, NamedCache.java) · book 9.1.4
"""
