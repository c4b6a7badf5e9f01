"""Stores whose writes stay in a record cache until it is flushed.

Kafka 0.10.2: streams/.../state/internals (CachingKeyValueStore.java, CachingWindowStore.java) · book 9.1.4
"""
