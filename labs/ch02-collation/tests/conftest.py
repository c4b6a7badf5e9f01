"""Helpers that the tests of this lab share."""

import random

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.old_producer import KeyedMessage
from kafka_lite.old_producer.broker_partition_info import PartitionAndLeader
from kafka_lite.old_producer.default_event_handler import DefaultEventHandler
from kafka_lite.old_producer.encoder import DefaultEncoder
from kafka_lite.old_producer.partitioner import DefaultPartitioner
from kafka_lite.old_producer.producer_config import ProducerConfig

NO_LEADER = -1


class Metadata:
    """Stands in for BrokerPartitionInfo; ``leaders`` may be changed, as if the leaders had moved."""

    def __init__(self, leaders):
        self.leaders, self.updates = leaders, []

    def get_broker_partition_info(self, topic):
        return [PartitionAndLeader(topic, number, leader) for number, leader in enumerate(self.leaders[topic])]

    def update_info(self, topics):
        self.updates.append(sorted(topics))


class Handler(DefaultEventHandler):
    """An event handler without a network: ``sent`` has what each broker got, ``fails`` prescribes the next failures."""

    def __init__(self, leaders, partitioner, **config):
        self.time = MockTime()
        settings = {"metadata.broker.list": "localhost:1", **{key.replace("_", "."): v for key, v in config.items()}}
        encoder = DefaultEncoder({})
        super().__init__(ProducerConfig(settings), partitioner, encoder, encoder, None, self.time, random.Random(1))
        self.metadata = self._broker_partition_info = Metadata(leaders)
        self.sent, self.fails = [], []

    def _send(self, broker_id, by_partition):
        self.sent.append((broker_id, {str(p): values(messages) for p, messages in by_partition.items()}))
        if broker_id == NO_LEADER:
            return list(by_partition)
        failing = self.fails.pop(0) if self.fails else ()
        return [partition for partition in by_partition if str(partition) in failing]

    def messages(self, *keys, topic="t"):
        """Serialized messages; with the default partitioner key n goes to partition n modulo their number."""
        return self.serialize([KeyedMessage(topic, b"%d" % n, part_key=key) for n, key in enumerate(keys)])


def values(messages):
    return [int(message.value) for message in messages]


@pytest.fixture
def new_handler():
    """``new_handler({"t": [0, 1]}, partitioner=…, retry_backoff_ms=…)``: leaders by topic and partition."""

    def make(leaders, partitioner=None, **config):
        return Handler(leaders, partitioner or DefaultPartitioner({}), **config)

    return make


@pytest.fixture
def numbers():
    """``numbers(collated)``: the numbers of the messages by broker and partition."""

    def of(collated):
        return {broker: {str(p): values(m) for p, m in of_one.items()} for broker, of_one in collated.items()}

    return of


@pytest.fixture
def error_of():
    """``error_of(work)``: the error that it raises, or None."""

    def of(work):
        try:
            work()
        except NotImplementedError:
            raise
        except Exception as error:  # noqa: BLE001
            return error
        return None

    return of
