"""Which replicas are offline because of a disk, as the brokers' responses tell."""

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.controller_context import PartitionAndReplica
from kafka_lite.controller.log_dir_failures import LogDirFailures
from kafka_lite.protocol.messages.api_04_leader_and_isr import (
    LeaderAndIsrPartitionError,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
)
from tests.support.state_machines import Controller, P

Q = TopicPartition("u", 0)


class Events:
    """The notifications in ZooKeeper: who has lost a disk, by the name of the node."""

    def __init__(self):
        self.nodes = {}

    def names(self):
        return sorted(self.nodes)

    def brokers(self, names):
        return {self.nodes[name] for name in names}

    def delete(self, names):
        for name in names:
            del self.nodes[name]


class Failing(Controller):
    """Brokers 1 and 2 have P and Q."""

    def __init__(self):
        super().__init__((1, 2), {P: [1, 2], Q: [2, 1]})
        for partition in (P, Q):
            self.create(partition)
        self.sent.clear()
        self.events = Events()
        self.lost, self.times_back = [], 0
        self.failures = LogDirFailures(self.context, self.events, self.replicas, self.lost.append, self.back)

    def back(self):
        self.times_back += 1

    def respond(self, broker_id, whole=Errors.NONE, **errors):
        """``respond(1, t=error)``: what broker 1 says of t-0 and u-0."""
        found = [
            LeaderAndIsrPartitionError(topic_name=topic, partition_index=0, error_code=error.code)
            for topic, error in errors.items()
        ]
        response = LeaderAndIsrResponse(error_code=whole.code, partition_errors=found)
        is_news = self.failures.is_news(broker_id, response)
        self.failures.process_response(broker_id, response)
        return is_news


@pytest.fixture
def controller():
    return Failing()


LOST = Errors.KAFKA_STORAGE_ERROR


def test_a_broker_that_has_lost_a_disk_is_told_about_all_of_its_replicas(controller):
    controller.events.nodes = {"log_dir_event_0000000000": 2, "log_dir_event_0000000001": 2}
    controller.failures.process_notifications()
    told = controller.told(LeaderAndIsrRequest)
    assert {to for to, _ in told} == {2}
    assert {each.topic_name for _, request in told for each in request.ungrouped_partition_states} == {"t", "u"}
    assert controller.events.names() == []


def test_without_notifications_or_for_a_dead_broker_nobody_is_asked(controller):
    controller.failures.process_notifications()
    controller.events.nodes = {"log_dir_event_0000000000": 7}
    controller.failures.process_notifications()
    assert controller.sent == []
    assert controller.events.names() == []


def test_a_new_controller_discards_what_it_asks_anyway(controller):
    controller.events.nodes = {"log_dir_event_0000000000": 2}
    controller.failures.discard_notifications()
    assert (controller.events.names(), controller.sent) == ([], [])


def test_replicas_are_lost_and_come_back(controller):
    assert controller.respond(1, t=LOST, u=Errors.NONE)
    assert controller.lost == [{PartitionAndReplica(P, 1)}]
    assert controller.context.replicas_on_offline_dirs == {1: {P}}
    assert controller.respond(1, t=LOST)
    assert len(controller.lost) == 1, "this is known"
    assert controller.times_back == 0
    assert controller.respond(1, t=Errors.NONE)
    assert controller.times_back == 1
    assert not controller.context.replicas_on_offline_dirs.get(1)


def test_any_other_error_means_that_the_log_is_there(controller):
    controller.respond(1, t=LOST, u=LOST)
    controller.respond(1, u=Errors.STALE_CONTROLLER_EPOCH)
    assert controller.context.replicas_on_offline_dirs == {1: {P}}
    assert controller.times_back == 1


def test_a_response_without_lost_replicas_is_no_news_of_a_healthy_broker(controller):
    assert not controller.respond(1, t=Errors.NONE)
    controller.respond(1, t=LOST)
    assert not controller.respond(2, t=Errors.NONE)
    assert controller.respond(1, u=Errors.NONE)


def test_a_refused_request_and_a_dead_broker_tell_nothing(controller):
    controller.respond(1, Errors.STALE_CONTROLLER_EPOCH, t=LOST)
    controller.respond(7, t=LOST)
    assert controller.lost == []
    assert controller.context.replicas_on_offline_dirs == {}
