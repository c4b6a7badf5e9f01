"""Helpers that the tests of this lab share."""

import pytest

from kafka_learn.labs.groups import GROUP_BROKER
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_errors import IllegalConsumerStateError
from kafka_lite.consumer.consumer_rebalance_listener import NO_LISTENER
from kafka_lite.consumer.offset_and_metadata import OffsetResetStrategy
from kafka_lite.consumer.subscription_state import SubscriptionState


@pytest.fixture(scope="session")
def broker_settings():
    """Groups start without delay."""
    return GROUP_BROKER


@pytest.fixture
def state():
    """The state of a consumer that has not subscribed; auto.offset.reset=latest."""
    return SubscriptionState(OffsetResetStrategy.LATEST)


@pytest.fixture
def subscribe(state):
    """``subscribe("t", "u")``: returns the method's result."""
    return lambda *topics: state.subscribe(topics, NO_LISTENER)


@pytest.fixture
def partitions():
    """``partitions("t-0", "t-1")``."""
    return lambda *names: [TopicPartition(name[:-2], int(name[-1])) for name in names]


@pytest.fixture
def is_illegal():
    """``is_illegal(work)``: whether it raises IllegalConsumerStateError."""

    def check(work):
        try:
            work()
        except IllegalConsumerStateError:
            return True
        return False

    return check
