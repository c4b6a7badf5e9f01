"""Task 4: a broker with your code, alone, and real clients."""

import pytest

from kafka_learn.labs.clients import create_topic, log_end_offset, must_read, publish
from kafka_learn.recording.run_brokers import PRODUCE_VERSION, TOPIC, produce_of
from kafka_lite.common.errors import Errors
from kafka_lite.network.blocking_channel import BlockingChannel


@pytest.mark.points(2, task=4)
def test_one_replica_is_all(broker):
    """acks=all, one replica, min.insync.replicas=1: every record is read back"""
    create_topic(broker, "one")
    publish(broker, 0, 50, topic="one", acks="all")
    must_read(broker, 0, 50, topic="one")


@pytest.mark.points(2, task=4)
def test_half_of_what_is_required(broker):
    """acks=1, one replica, min.insync.replicas=2: the producer does not ask"""
    create_topic(broker, "half", **{"min.insync.replicas": "2"})
    publish(broker, 0, 50, topic="half", acks="1")
    must_read(broker, 0, 50, topic="half")


@pytest.mark.points(4, task=4)
def test_the_promise_cannot_be_kept(broker):
    """acks=all, one replica, min.insync.replicas=2"""
    create_topic(broker, TOPIC, **{"min.insync.replicas": "2"})
    host, _, port = broker.bootstrap_servers.rpartition(":")
    with BlockingChannel(host, int(port)) as channel:
        response = channel.exchange(produce_of(b"x", acks=-1), PRODUCE_VERSION)
    error = Errors.for_code(response.responses[0].partition_responses[0].error_code)
    assert error is Errors.NOT_ENOUGH_REPLICAS, f"one of two required replicas: NOT_ENOUGH_REPLICAS, not {error.name}"
    assert log_end_offset(broker, TOPIC) == 0, "a refused record is not in the log"
