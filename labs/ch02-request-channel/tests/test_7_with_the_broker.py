"""Task 7: the broker uses your channel, and every request of confluent-kafka goes through it."""

import pytest

from kafka_learn.labs.clients import publish, read_all

MESSAGES = 1000


def exchange(broker, **settings):
    """Produce and consume all messages; both must succeed."""
    publish(broker, 0, MESSAGES, lambda number: {"value": str(number), "partition": 0}, **settings)
    values = [message.value() for message in read_all(broker)[0]]
    wanted = [str(number).encode() for number in range(MESSAGES)]
    assert values == wanted, f"{len(values)} of {MESSAGES} messages arrived, or out of order\n{broker.log_tail()}"


@pytest.mark.points(5, task=7)
def test_every_request_is_queued(start_broker):
    """inline.quick.requests=false: every request goes through your queue, as in Kafka"""
    broker = start_broker(**{"inline.quick.requests": "false"})
    exchange(broker, **{"batch.num.messages": 50})
    assert broker.stop() == 0, f"a clean stop ends with exit code 0\n{broker.log_tail()}"


@pytest.mark.points(5, task=7)
def test_room_for_one_request(start_broker):
    """queued.max.requests=1, one handler, and small batches: processors wait again and again"""
    broker = start_broker(
        **{"inline.quick.requests": "false", "queued.max.requests": "1", "num.io.threads": "1"},
    )
    exchange(broker, **{"batch.num.messages": 5})
    assert broker.stop() == 0, f"a clean stop ends with exit code 0\n{broker.log_tail()}"


@pytest.mark.points(5, task=7)
def test_quick_requests_bypass_the_queue(start_broker):
    """The broker's defaults"""
    broker = start_broker()
    exchange(broker, **{"batch.num.messages": 50})
    assert broker.stop() == 0, f"a clean stop ends with exit code 0\n{broker.log_tail()}"
