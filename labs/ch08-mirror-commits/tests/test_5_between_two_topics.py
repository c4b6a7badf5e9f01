"""Task 5: a mirror with your code, on a real broker."""

import time

import pytest

from kafka_learn.labs.clients import TIMEOUT_S, create_topic
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.mirror.maker.mirror_maker import MirrorMaker
from kafka_lite.mirror.maker.mirror_maker_config import MirrorMakerConfig
from kafka_lite.mirror.maker.mirror_maker_message_handler import MirrorMakerMessageHandler
from kafka_lite.producer.kafka_producer import KafkaProducer
from kafka_lite.producer.producer_record import ProducerRecord

COUNT = 60
FAILS_AT = 40


class Renaming(MirrorMakerMessageHandler):
    """Sends to the topic of the same name with a prefix. With an argument, fails at that record."""

    def __init__(self, fails_at="-1"):
        self.fails_at = int(fails_at)

    def handle(self, record):
        if int(record.value) == self.fails_at:
            raise ValueError("the handler fails here on purpose")
        return [ProducerRecord("copy-of-" + record.topic, record.value, record.key)]


def mirror_of(broker, topic, **flags):
    """A running mirror."""
    configs = {"bootstrap.servers": broker.bootstrap_servers}
    consumer = configs | {"group.id": f"mirror-of-{topic}", "auto.offset.reset": "earliest"}
    handler = f"{Renaming.__module__}.{Renaming.__qualname__}"
    mirror = MirrorMaker.create(MirrorMakerConfig(consumer, configs, whitelist=topic, message_handler=handler, **flags))
    mirror.start()
    return mirror


def stop(mirror):
    mirror.initiate_shutdown()
    assert mirror.await_shutdown(TIMEOUT_S), "the mirror does not stop"


def values(broker, topic):
    """The numbers in the topic's only partition."""
    with KafkaConsumer({"bootstrap.servers": broker.bootstrap_servers}) as consumer:
        partition = TopicPartition(topic, 0)
        end = consumer.end_offsets([partition])[partition]
        consumer.assign([partition])
        consumer.seek_to_beginning([partition])
        found = []
        while len(found) < end:
            found += [int(each.value) for each in consumer.poll(1000)]
        return found


def wait_for(broker, topic, count):
    deadline = time.monotonic() + TIMEOUT_S
    while len(set(found := values(broker, topic))) < count:
        assert time.monotonic() < deadline, f"{topic} has {sorted(set(found))} after {TIMEOUT_S} s"
        time.sleep(0.05)


def prepared(broker, topic, **config):
    """A topic with numbers, and an empty one for the copy, which has the configuration."""
    create_topic(broker, topic)
    create_topic(broker, f"copy-of-{topic}", **config)
    with KafkaProducer({"bootstrap.servers": broker.bootstrap_servers}) as producer:
        for number in range(COUNT):
            producer.send(ProducerRecord(topic, b"%d" % number, partition=0))


@pytest.mark.points(5, task=5)
def test_a_clean_stop(broker):
    """A mirror is stopped, and the next one has nothing to do"""
    prepared(broker, "clean")
    mirror = mirror_of(broker, "clean")
    wait_for(broker, "copy-of-clean", COUNT)
    stop(mirror)
    second = mirror_of(broker, "clean")
    with KafkaProducer({"bootstrap.servers": broker.bootstrap_servers}) as producer:
        producer.send(ProducerRecord("clean", b"%d" % COUNT, partition=0))
    wait_for(broker, "copy-of-clean", COUNT + 1)
    stop(second)
    found = values(broker, "copy-of-clean")
    assert found == list(range(COUNT + 1)), f"each record once and in order, but the target has {found}"


@pytest.mark.points(5, task=5)
def test_a_failure_in_the_middle(broker):
    """The handler fails at record 40; the next mirror has a better one"""
    prepared(broker, "failing")
    mirror = mirror_of(broker, "failing", message_handler_args=str(FAILS_AT))
    assert mirror.await_end(TIMEOUT_S), "an error of the handler ends the mirror"
    stop(mirror)
    second = mirror_of(broker, "failing")
    wait_for(broker, "copy-of-failing", COUNT)
    stop(second)
    missing = sorted(set(range(COUNT)) - set(values(broker, "copy-of-failing")))
    assert missing == [], f"records {missing} are lost: they were committed, but not sent"


@pytest.mark.points(5, task=5)
def test_a_record_that_is_refused(broker):
    """The target refuses all records: nothing may be committed, so that another mirror can copy them"""
    prepared(broker, "refused", **{"max.message.bytes": "1"})
    mirror = mirror_of(broker, "refused")
    assert mirror.await_end(TIMEOUT_S), "a record that cannot be sent ends the mirror"
    stop(mirror)
    partition = TopicPartition("refused", 0)
    with KafkaConsumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": "mirror-of-refused"}) as consumer:
        found = consumer.committed([partition])[partition]
    assert found is None, f"the target has no record, but you have committed offset {found.offset}"
