"""Task 6: a KafkaProducer uses your accumulator with a real broker, and confluent-kafka reads what arrived."""

import threading

import pytest

from kafka_learn.labs.clients import create_topic, read_all, send
from kafka_lite.producer import KafkaProducer, ProducerRecord

SMALL = {"batch.size": "2000", "linger.ms": "5"}


def numbers(messages):
    return [int(message.value()[:6]) for message in messages]


@pytest.mark.points(5, task=6)
def test_every_record_arrives_in_order(broker):
    """1,500 records to three partitions, in small batches"""
    create_topic(broker, "order", partitions=3)
    send(broker, (ProducerRecord("order", b"%06d" % n * 15, partition=n % 3) for n in range(1500)), **SMALL)
    for partition, messages in read_all(broker, 3, "order").items():
        wanted = list(range(partition, 1500, 3))
        assert numbers(messages) == wanted, (
            f"partition {partition}: {len(messages)} of 500 records arrived, or out of order"
        )


@pytest.mark.points(5, task=6)
def test_four_threads_and_one_producer(broker):
    """Four threads append to one partition"""
    create_topic(broker, "threads")
    with KafkaProducer({"bootstrap.servers": broker.bootstrap_servers, **SMALL}) as producer:

        def work(thread):
            for n in range(300):
                producer.send(ProducerRecord("threads", b"%06d" % (thread * 1000 + n)))

        threads = [threading.Thread(target=work, args=(thread,)) for thread in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert producer.flush(60_000), "flush has not returned after 60 s: something was never sent"
    found = numbers(read_all(broker, 1, "threads")[0])
    for thread in range(4):
        own = [number for number in found if number // 1000 == thread]
        assert own == list(range(thread * 1000, thread * 1000 + 300)), (
            f"thread {thread}: records were lost, duplicated or out of order"
        )


@pytest.mark.points(5, task=6)
def test_memory_for_three_batches(broker):
    """buffer.memory for three batches: send waits for memory, and all of it is returned"""
    create_topic(broker, "memory", partitions=4)
    with KafkaProducer({"bootstrap.servers": broker.bootstrap_servers, **SMALL, "buffer.memory": "6000"}) as producer:
        futures = [producer.send(ProducerRecord("memory", b"%06d" % n * 15, partition=n % 4)) for n in range(600)]
        assert producer.flush(60_000), "flush has not returned after 60 s: is there a buffer that is never returned?"
        errors = [error for future in futures if (error := future.error_if_failed())]
        assert not errors, f"{len(errors)} records failed: {errors[0]}"
        free = producer._accumulator._pool.available_memory
        assert free == 6000, f"everything was sent, but {6000 - free} bytes of buffer.memory were not returned"
    found = sorted(number for messages in read_all(broker, 4, "memory").values() for number in numbers(messages))
    assert found == list(range(600)), f"{len(found)} of 600 records arrived"
