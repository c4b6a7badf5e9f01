"""The new consumer: :class:`~kafka_lite.consumer.kafka_consumer.KafkaConsumer` and what it is made of.

Kafka 0.10.2: clients/.../consumer · book 4.5
"""

from kafka_lite.consumer.consumer_group_metadata import ConsumerGroupMetadata
from kafka_lite.consumer.consumer_rebalance_listener import ConsumerRebalanceListener
from kafka_lite.consumer.consumer_record import ConsumerRecord, ConsumerRecords
from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata, OffsetAndTimestamp
from kafka_lite.consumer.share.acknowledgements import AcknowledgeType
from kafka_lite.consumer.share.kafka_share_consumer import KafkaShareConsumer
from kafka_lite.consumer.subscription_pattern import SubscriptionPattern

__all__ = [
    "AcknowledgeType",
    "ConsumerGroupMetadata",
    "ConsumerRebalanceListener",
    "ConsumerRecord",
    "ConsumerRecords",
    "KafkaConsumer",
    "KafkaShareConsumer",
    "OffsetAndMetadata",
    "OffsetAndTimestamp",
    "SubscriptionPattern",
]
