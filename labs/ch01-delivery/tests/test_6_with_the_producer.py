"""Task 6: a KafkaProducer with your code, a real broker, and confluent-kafka that reads what arrived."""

import pytest

from kafka_learn.labs.clients import create_topic, read_all, send
from kafka_lite.producer import KafkaProducer, ProducerRecord

SETTINGS = {
    "acks=0": {"acks": "0"},
    "acks=1": {"acks": "1"},
    "one in flight": {"max.in.flight.requests.per.connection": "1", "enable.idempotence": "false"},
    "the defaults": {},
}


def numbers(messages):
    return [int(message.value()[:6]) for message in messages]


@pytest.mark.points(1, task=6)
def test_nothing_goes_wrong(broker):
    """400 records with four settings, a healthy broker"""
    for place, (name, settings) in enumerate(SETTINGS.items()):
        topic = f"orders-{place}"
        create_topic(broker, topic, partitions=2)
        records = (ProducerRecord(topic, b"%06d" % n, partition=n % 2) for n in range(400))
        sent = send(broker, records, **{"batch.size": "500", **settings})
        assert len(sent) == 400
        for partition, messages in read_all(broker, 2, topic).items():
            got = numbers(messages)
            assert got == list(range(partition, 400, 2)), (
                f"{name}, partition {partition}: {len(got)} of 200 records arrived, or out of order"
            )


@pytest.mark.points(2, task=6)
def test_batches_that_are_too_large(broker):
    """A topic that takes 2,000 bytes, batches of 16,000"""
    create_topic(broker, "small", **{"max.message.bytes": "2000"})
    records = (ProducerRecord("small", b"%06d" % n * 10) for n in range(300))
    send(broker, records, **{"linger.ms": "50"})
    got = numbers(read_all(broker, 1, "small")[0])
    assert got == list(range(300)), f"{len(got)} of 300 records arrived, or out of order: batches are split until fit"


@pytest.mark.points(2, task=6)
def test_the_broker_restarts(start_broker):
    """kill -9 in the middle of 600 records, and a restart: each record once, in order"""
    broker = start_broker()
    create_topic(broker, "orders")
    settings = {"bootstrap.servers": broker.bootstrap_servers, "batch.size": "500", "retry.backoff.ms": "20"}
    with KafkaProducer(settings) as producer:
        futures = [producer.send(ProducerRecord("orders", b"%06d" % n)) for n in range(300)]
        futures[0].get(30_000)
        broker.kill()
        futures += [producer.send(ProducerRecord("orders", b"%06d" % n)) for n in range(300, 600)]
        broker.start()
        assert producer.flush(60_000), "flush has not returned 60 s after the restart: is a batch never retried?"
        errors = [error for future in futures if (error := future.error_if_failed())]
        assert not errors, f"{len(errors)} records failed: {errors[0]}"
    got = numbers(read_all(broker, 1, "orders")[0])
    assert got == list(range(600)), f"{len(got)} records for 600 that were sent, or out of order"
