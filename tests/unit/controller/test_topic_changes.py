"""New topics, new partitions, and marks for deletion, with ZooKeeper and the brokers in memory."""

import uuid

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.partition_state_machine import PartitionState
from kafka_lite.controller.topic_changes import TopicChanges
from kafka_lite.zookeeper.data import TopicAssignment
from kafka_lite.zookeeper.zk_errors import NoNodeError
from tests.support.fake_zk import FakeZk
from tests.support.state_machines import Controller, P

NEW, SECOND = TopicPartition("new", 0), TopicPartition("t", 1)


class TopicsZk(FakeZk):
    """Also has the topics' znodes and the marks."""

    def __init__(self):
        super().__init__()
        self.topics = {"t": TopicAssignment({0: [1, 2]})}
        self.marked = []
        self.before_write = None

    def get_all_topics(self):
        return list(self.topics)

    def topic_exists(self, topic):
        return topic in self.topics

    def get_topic_assignments(self, topics):
        return {topic: self.topics[topic] for topic in topics if topic in self.topics}

    def get_replica_assignment(self, topics):
        return {
            TopicPartition(topic, number): replicas
            for topic in topics
            for number, replicas in self.topics[topic].partitions.items()
        }

    def change_topic_assignment(self, topic, change):
        if self.before_write is not None:
            self.before_write()
        if topic not in self.topics:
            raise NoNodeError(topic)
        self.topics[topic] = change(self.topics[topic])

    def get_topics_marked_for_deletion(self):
        return list(self.marked)


class Changing(Controller):
    """Topic t is on line, on the brokers 1 and 2."""

    zk_class = TopicsZk

    def __init__(self, uses_topic_ids=True):
        super().__init__((1, 2, 3), {P: [1, 2]})
        self.create(P)
        self.watched = []
        self.changes = TopicChanges(
            self.context, self.zk, self.partitions, self.replicas, self.deletion, self.watched.append, uses_topic_ids
        )
        self.sent.clear()


@pytest.fixture
def controller():
    return Changing()


def test_a_new_topic_is_watched_and_led(controller):
    controller.zk.topics["new"] = TopicAssignment({0: [2, 3]})
    controller.changes.process_topic_change()
    assert controller.watched == ["new"]
    assert controller.context.all_topics == {"t", "new"}
    assert controller.partitions.state(NEW) is PartitionState.ONLINE
    assert (controller.state(NEW).leader, controller.state(NEW).isr) == (2, [2, 3])
    assert controller.state(P).leader_epoch == 0, "nothing has happened to the other one"


def test_a_topic_without_an_id_gets_one_which_stays(controller):
    controller.zk.topics["new"] = TopicAssignment({0: [2, 3]})
    controller.changes.process_topic_change()
    topic_id = controller.zk.topics["new"].topic_id
    assert topic_id is not None
    assert controller.context.topic_ids == {"new": topic_id}
    assert controller.context.topic_names == {topic_id: "new"}
    assert controller.changes.read_topics(["new"]) == {"new": controller.zk.topics["new"]}
    assert controller.zk.topics["new"] == TopicAssignment({0: [2, 3]}, topic_id), "its replicas are unchanged"


def test_an_id_is_kept_though_brokers_of_an_old_protocol_are_given_none():
    controller = Changing(uses_topic_ids=False)
    with_id = TopicAssignment({0: [2]}, uuid.UUID(int=7))
    controller.zk.topics |= {"new": with_id, "plain": TopicAssignment({0: [2]})}
    controller.changes.process_topic_change()
    assert controller.context.topic_ids == {"new": with_id.topic_id}
    assert controller.zk.topics["plain"].topic_id is None


def test_an_id_that_another_broker_writes_at_the_same_time_wins(controller):
    other = TopicAssignment({0: [2], 1: [3]}, uuid.UUID(int=7))
    controller.zk.topics["new"] = TopicAssignment({0: [2]})
    controller.zk.before_write = lambda: controller.zk.topics.update(new=other)
    assert controller.changes.read_topics(["new"]) == {"new": other}


def test_a_topic_that_is_deleted_before_it_gets_an_id_has_none(controller):
    controller.zk.topics["new"] = TopicAssignment({0: [2]})
    controller.zk.before_write = controller.zk.topics.clear
    assert controller.changes.read_topics(["new"]) == {"new": TopicAssignment({0: [2]})}


def test_a_topic_that_is_gone_is_forgotten(controller):
    del controller.zk.topics["t"]
    controller.changes.process_topic_change()
    assert controller.context.all_topics == set()
    assert P not in controller.context.partition_replica_assignment
    assert (controller.watched, controller.sent) == ([], [])


def test_new_partitions_are_led_and_the_others_stay_as_they_are(controller):
    controller.zk.topics["t"] = TopicAssignment({0: [3, 1], 1: [3, 1]})
    controller.changes.process_partition_modifications("t")
    assert (controller.state(SECOND).leader, controller.state(P).leader) == (3, 1)
    assert controller.context.partition_replica_assignment == {P: [1, 2], SECOND: [3, 1]}
    controller.sent.clear()
    controller.changes.process_partition_modifications("t")
    assert controller.sent == []


def test_a_topic_that_is_being_deleted_gets_no_partitions(controller):
    controller.deletion.enqueue_topics_for_deletion(["t"])
    controller.zk.topics["t"] = TopicAssignment({0: [1, 2], 1: [3, 1]})
    controller.changes.process_partition_modifications("t")
    assert SECOND not in controller.context.partition_replica_assignment


def test_a_mark_queues_a_topic_once(controller):
    controller.zk.marked = ["t"]
    controller.changes.process_topic_deletion()
    assert controller.deletion.is_topic_queued_up_for_deletion("t")
    controller.sent.clear()
    controller.changes.process_topic_deletion()
    assert controller.sent == []


def test_a_mark_without_a_topic_is_removed(controller):
    controller.zk.marked = ["nowhere"]
    controller.changes.process_topic_deletion()
    assert controller.zk.deleted == ["/admin/delete_topics/nowhere"]
    assert not controller.deletion.is_topic_queued_up_for_deletion("nowhere")


def test_a_topic_may_be_marked_before_the_controller_knows_it(controller):
    controller.zk.topics["new"] = TopicAssignment({0: [2, 3]})
    controller.zk.marked = ["new"]
    controller.changes.process_topic_deletion()
    assert controller.watched == ["new"]
    assert controller.deletion.is_topic_queued_up_for_deletion("new")
    assert controller.deletion.partitions_to_be_deleted == {NEW}
    assert controller.zk.deleted == []
