"""The new producer: :class:`~kafka_lite.producer.kafka_producer.KafkaProducer` and what it is made of."""

from kafka_lite.producer.kafka_producer import KafkaProducer
from kafka_lite.producer.producer_record import ProducerRecord, RecordMetadata

__all__ = ["KafkaProducer", "ProducerRecord", "RecordMetadata"]
