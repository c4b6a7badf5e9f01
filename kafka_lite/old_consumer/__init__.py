"""The consumers that Kafka had before the new one: groups that meet in ZooKeeper, and the simple consumer."""

from kafka_lite.old_consumer.consumer_config import ConsumerConfig
from kafka_lite.old_consumer.simple.simple_consumer import SimpleConsumer
from kafka_lite.old_consumer.simple.simple_fetch import FetchRequestBuilder
from kafka_lite.old_consumer.topic_filter import Blacklist, Whitelist
from kafka_lite.old_consumer.zookeeper_consumer_connector import Consumer

__all__ = ["Blacklist", "Consumer", "ConsumerConfig", "FetchRequestBuilder", "SimpleConsumer", "Whitelist"]
