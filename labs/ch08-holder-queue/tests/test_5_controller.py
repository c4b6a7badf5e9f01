"""Task 5: a controller with your code; the source of its mirror is a real broker."""

import time

import pytest

from kafka_learn.labs.clients import create_topic
from kafka_lite.mirror.helix.model.ideal_state import IdealState

PATIENCE_S = 30


def maps(controller, mirror):
    return {topic: mirror.text(IdealState(record)) for topic, record in controller.records().items()}


def settle(controller, mirror, expected):
    """The rebalance is made by the controller's clock: wait for it."""
    deadline_s = time.monotonic() + PATIENCE_S
    while maps(controller, mirror) != expected and time.monotonic() < deadline_s:
        time.sleep(0.05)
    found = maps(controller, mirror)
    assert found == expected, f"the ideal states should become {expected}; yours: {found}"


@pytest.mark.points(5, task=5)
def test_topics_are_added(controller, mirror):
    """POST /topics, twice"""
    controller.live("w1", "w2")
    for topic, number in (("t", 3), ("u", 2)):
        text = controller.post("/topics", {"topic": topic, "numPartitions": number})
        assert text.startswith("Successfully add new topic"), f"the controller says: {text}"
    settle(controller, mirror, {"t": "121", "u": "21"})


@pytest.mark.points(5, task=5)
def test_a_topic_of_the_source(controller, mirror, broker):
    """As many partitions as the broker has"""
    controller.live("w1")
    create_topic(broker, "orders", partitions=4)
    deadline_s = time.monotonic() + PATIENCE_S
    while "Successfully" not in (text := controller.post("/topics/orders")) and time.monotonic() < deadline_s:
        time.sleep(0.05)
    assert "Successfully" in text, f"the broker has orders with 4 partitions; the controller says: {text}"
    settle(controller, mirror, {"orders": "1111"})


@pytest.mark.points(5, task=5)
def test_a_worker_dies_and_another_comes(controller, mirror):
    """Three workers, one dies; then a new one comes"""
    controller.live("w1", "w2", "w3")
    controller.post("/topics", {"topic": "t", "numPartitions": 6})
    settle(controller, mirror, {"t": "123123"})
    controller.die("w2")
    settle(controller, mirror, {"t": "113133"})
    controller.live("w4")
    settle(controller, mirror, {"t": "414133"})
