"""Task 5: a KafkaProducer uses your pool, and a real broker gets every record."""

import signal
import threading

import pytest

from kafka_learn.labs.clients import create_topic, read_all
from kafka_lite.producer import KafkaProducer, ProducerRecord
from kafka_lite.producer.buffer_pool import BufferExhaustedError


def must_be_whole(producer, total):
    assert producer.flush(60_000), "flush has not returned after 60 s: is there memory that is never returned?"
    free = producer._accumulator._pool.available_memory
    assert free == total, f"everything was sent, but of {total} bytes only {free} are available"


def numbers(broker, topic):
    return sorted(int(message.value()[:6]) for message in read_all(broker, 1, topic)[0])


@pytest.mark.points(5, task=5)
def test_four_threads_with_memory_for_two_batches(broker):
    """Four threads, buffer.memory for two batches"""
    create_topic(broker, "pool-threads")
    configs = {"bootstrap.servers": broker.bootstrap_servers, "batch.size": "1000", "buffer.memory": "2000"}
    with KafkaProducer(configs) as producer:

        def work(thread):
            for n in range(150):
                producer.send(ProducerRecord("pool-threads", b"%06d" % (thread * 150 + n) * 15))

        threads = [threading.Thread(target=work, args=(thread,)) for thread in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        must_be_whole(producer, 2000)
    found = numbers(broker, "pool-threads")
    assert found == list(range(600)), f"{len(found)} of 600 records arrived"


@pytest.mark.points(5, task=5)
def test_records_of_all_sizes(broker):
    """Records of 10 to 5,000 bytes, batches of 1,000, memory for 8,000"""
    create_topic(broker, "pool-sizes")
    configs = {"bootstrap.servers": broker.bootstrap_servers, "batch.size": "1000", "buffer.memory": "8000"}
    with KafkaProducer(configs) as producer:
        for n in range(300):
            producer.send(ProducerRecord("pool-sizes", (b"%06d" % n).ljust(10 + n * 17 % 5000, b".")))
        must_be_whole(producer, 8000)
    found = numbers(broker, "pool-sizes")
    assert found == list(range(300)), f"{len(found)} of 300 records arrived"


@pytest.mark.points(5, task=5)
def test_a_stalled_broker(broker):
    """The broker stops responding: send blocks for max.block.ms, fails, and succeeds later"""
    create_topic(broker, "pool-still")
    configs = {
        "bootstrap.servers": broker.bootstrap_servers, "batch.size": "1000", "buffer.memory": "3000",
        "max.block.ms": "1000",
    }  # fmt: skip
    with KafkaProducer(configs) as producer:
        futures = [producer.send(ProducerRecord("pool-still", b"%06d" % 0))]
        futures[0].get(30_000)
        broker.process.send_signal(signal.SIGSTOP)
        try:
            while not isinstance(futures[-1].error_if_failed() if futures[-1].done() else None, BufferExhaustedError):
                assert len(futures) < 100, "the broker is stalled, but 3,000 bytes of memory accept 100 records of 600"
                futures.append(producer.send(ProducerRecord("pool-still", (b"%06d" % len(futures)).ljust(600, b"."))))
        finally:
            broker.process.send_signal(signal.SIGCONT)
        must_be_whole(producer, 3000)
        futures[-1] = producer.send(ProducerRecord("pool-still", b"%06d" % (len(futures) - 1)))
        futures[-1].get(30_000)
    found = numbers(broker, "pool-still")
    assert found == list(range(len(futures))), f"of {len(futures)} records that send accepted, {len(found)} arrived"
