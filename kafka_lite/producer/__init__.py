"""The new producer: :class:`~kafka_lite.producer.kafka_producer.KafkaProducer` and what it is made of."""

from kafka_lite.producer.kafka_producer import KafkaProducer
from kafka_lite.producer.producer_record import ProducerRecord, RecordMetadata
from kafka_lite.producer.transaction_errors import (
    IllegalTransactionStateError,
    ProducerFencedError,
    TransactionAbortedError,
    TransactionError,
)

__all__ = [
    "IllegalTransactionStateError",
    "KafkaProducer",
    "ProducerFencedError",
    "ProducerRecord",
    "RecordMetadata",
    "TransactionAbortedError",
    "TransactionError",
]
