"""The producer that Kafka had before the new one: blocking requests, one collation per batch."""

from kafka_lite.old_producer.keyed_message import KeyedMessage
from kafka_lite.old_producer.producer import Producer

__all__ = ["KeyedMessage", "Producer"]
