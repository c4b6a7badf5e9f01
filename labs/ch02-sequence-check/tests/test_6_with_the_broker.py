"""Task 6: the broker checks with your code: duplicate batches, gaps, old epochs; and a kill -9."""

import pytest
from confluent_kafka import Producer

from kafka_learn.labs.clients import TOPIC, create_topic, must_read, numbered, read_all
from kafka_lite.common.errors import Errors
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_00_produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kafka_lite.protocol.messages.api_22_init_producer_id import InitProducerIdRequest
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder


class RawProducer:
    """Sends batches with the numbers that a test chooses."""

    def __init__(self, broker, topic):
        host, _, port = broker.bootstrap_servers.rpartition(":")
        self.channel, self.topic = BlockingChannel(host, int(port)), topic
        self.channel.connect()
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000)
        self.producer_id = self.channel.exchange(request, 2).producer_id

    def send(self, sequence, epoch=0):
        """One record with this number; (error, offset)."""
        builder = MemoryRecordsBuilder(producer_id=self.producer_id, producer_epoch=epoch, base_sequence=sequence)
        builder.append(1000, None, b"%d" % sequence)
        partition = PartitionProduceData(index=0, records=builder.build())
        topic = TopicProduceData(name=self.topic, partition_data=[partition])
        answer = self.channel.exchange(ProduceRequest(acks=-1, timeout_ms=5000, topic_data=[topic]), 7)
        outcome = answer.responses[0].partition_responses[0]
        return Errors.for_code(outcome.error_code), outcome.base_offset


def values(broker, topic):
    return [int(message.value()) for message in read_all(broker, 1, topic)[0]]


@pytest.mark.points(5, task=6)
def test_a_duplicate_batch(broker):
    """Five batches, then all five again"""
    create_topic(broker, "twice")
    producer = RawProducer(broker, "twice")
    first = [producer.send(number) for number in range(5)]
    again = [producer.send(number) for number in range(5)]
    assert again == first, f"duplicates get the same responses as the first time, {first}; yours: {again}"
    assert values(broker, "twice") == list(range(5)), f"the log contains {values(broker, 'twice')}: a duplicate"


@pytest.mark.points(5, task=6)
def test_a_gap_and_an_old_epoch(broker):
    """0, 2, 1, then a new epoch, then the old one"""
    create_topic(broker, "gap")
    producer = RawProducer(broker, "gap")
    steps = [(0, 0), (2, 0), (1, 0), (0, 1), (2, 0)]
    errors = [producer.send(*step)[0].name for step in steps]
    wanted = ["NONE", "OUT_OF_ORDER_SEQUENCE_NUMBER", "NONE", "NONE", "INVALID_PRODUCER_EPOCH"]
    assert errors == wanted, f"(sequence, epoch) {steps}: {wanted}, not {errors}"
    assert values(broker, "gap") == [0, 1, 0], f"rejected batches must not be in the log: {values(broker, 'gap')}"


@pytest.mark.points(5, task=6)
def test_a_producer_outlives_its_broker(start_broker):
    """confluent-kafka with enable.idempotence continues after kill -9"""
    broker = start_broker()
    failed = []
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "enable.idempotence": True, "linger.ms": 1})
    for first in (0, 200):
        for number in range(first, first + 200):
            producer.produce(
                TOPIC,
                **numbered(number),
                on_delivery=lambda error, _message: failed.append(error) if error else None,
            )
        assert producer.flush(60) == 0, f"the broker has not acknowledged all messages\n{broker.log_tail()}"
        assert not failed, f"the broker rejected messages: {failed[0]}\n{broker.log_tail()}"
        broker.kill()
        broker.start()
    must_read(broker, 0, 400)
