"""What follows when brokers join, fail, lose a disk or shut down, with ZooKeeper and the brokers in memory."""

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.broker_changes import BrokerChanges
from kafka_lite.controller.controller_context import PartitionAndReplica
from kafka_lite.controller.partition_state_machine import PartitionState
from kafka_lite.controller.replica_assignment import ReplicaAssignment
from kafka_lite.controller.replica_state_machine import ReplicaState
from kafka_lite.protocol.messages.api_04_leader_and_isr import LeaderAndIsrRequest
from kafka_lite.protocol.messages.api_05_stop_replica import StopReplicaRequest
from kafka_lite.protocol.messages.api_06_update_metadata import UpdateMetadataRequest
from kafka_lite.zookeeper.data import BrokerRegistration
from tests.support.state_machines import Controller, P, broker

Q, SINGLE = TopicPartition("u", 0), TopicPartition("single", 0)


class Reassigner:
    """Notes what it is told."""

    def __init__(self):
        self.told = []

    def on_broker_startup(self, broker_ids):
        self.told.append(("startup", list(broker_ids)))

    def on_broker_failure(self, broker_ids):
        self.told.append(("failure", list(broker_ids)))


class Registrations:
    """The brokers that are registered in ZooKeeper, with their epochs."""

    def __init__(self, live):
        self.epochs = dict.fromkeys(live, 1)
        self.unreadable = set()

    def get_brokers_and_epochs(self):
        return {broker_id: (self.registration(broker_id), epoch) for broker_id, epoch in self.epochs.items()}

    def registration(self, broker_id):
        return BrokerRegistration(("rubbish",) if broker_id in self.unreadable else (f"PLAINTEXT://h:{broker_id}",))


class Channels:
    """Notes which channels are opened and closed."""

    def __init__(self):
        self.told = []

    def add_broker(self, broker_id):
        self.told.append(("add", broker_id))

    def remove_broker(self, broker_id):
        self.told.append(("remove", broker_id))


class Cluster(Controller):
    """P is led by 1, Q by 2; SINGLE has one replica, on 1."""

    def __init__(self, live=(1, 2, 3)):
        super().__init__(live, {P: [1, 2, 3], Q: [2, 1], SINGLE: [1]})
        for partition in (P, Q, SINGLE):
            self.create(partition)
        self.reassigner = Reassigner()
        self.finalized = {}
        self.registrations, self.channels = Registrations(live), Channels()
        self.context.broker_epochs = dict(self.registrations.epochs)
        self.changes = BrokerChanges(
            self.context,
            self.registrations,
            self.channels,
            self.partitions,
            self.replicas,
            self.deletion,
            self.reassigner,
            self.batch(),
            self.update_metadata,
            lambda registration: {} if registration.features else self.finalized,
        )
        self.sent.clear()

    def fail(self, broker_id):
        self.die(broker_id)
        self.changes.on_broker_failure([broker_id])

    def join(self, broker_id):
        self.context.live_brokers[broker_id] = broker(broker_id)
        self.changes.on_broker_startup([broker_id])

    def replica_state(self, broker_id, partition=P):
        return self.replicas.state(PartitionAndReplica(partition, broker_id))

    def leader(self, partition):
        return self.state(partition).leader

    def isr(self, partition):
        return self.state(partition).isr


@pytest.fixture
def cluster():
    return Cluster()


# ------------------------------------------------------------------------------------------------------------- failure


def test_the_partitions_of_a_dead_broker_get_other_leaders(cluster):
    cluster.context.shutting_down_broker_ids.add(1)
    cluster.fail(1)
    assert (cluster.leader(P), cluster.isr(P)) == (2, [2, 3])
    assert (cluster.leader(Q), cluster.isr(Q)) == (2, [2])
    assert cluster.partitions.state(SINGLE) is PartitionState.OFFLINE
    assert cluster.replica_state(1) is ReplicaState.OFFLINE
    assert cluster.replica_state(2) is ReplicaState.ONLINE
    assert cluster.context.shutting_down_broker_ids == set(), "it does not shut down any more"
    assert cluster.reassigner.told == [("failure", [1])]


def test_the_failure_of_a_follower_is_known_to_all_brokers(cluster):
    cluster.fail(3)
    assert (cluster.leader(P), cluster.isr(P)) == (1, [1, 2])
    to, request = cluster.told(UpdateMetadataRequest)[-1]
    assert [each.id for each in request.live_brokers] == [1, 2]
    assert request.ungrouped_partition_states == [], "leaders have not changed"
    assert to == 2


def test_the_failure_of_a_leader_needs_no_further_update(cluster):
    cluster.fail(1)
    assert all(request.ungrouped_partition_states for _, request in cluster.told(UpdateMetadataRequest))


@pytest.mark.parametrize("started", [True, False])
def test_what_is_to_be_deleted_gets_no_leader_when_its_broker_fails(cluster, caplog, started):
    if not started:
        cluster.context.partitions_being_reassigned[P] = ReplicaAssignment([1, 2, 3], [3])
    cluster.deletion.enqueue_topics_for_deletion(["t"])
    assert cluster.replica_state(1) is (ReplicaState.DELETION_STARTED if started else ReplicaState.ONLINE)
    cluster.fail(1)
    assert cluster.partitions.state(P) is PartitionState.ONLINE
    assert cluster.replica_state(1) is ReplicaState.DELETION_INELIGIBLE
    assert "state change of replica" not in caplog.text, "what is logged is a failure"


def test_failed_log_directories_of_a_broker_that_is_gone_are_forgotten(cluster):
    for change in (cluster.fail, cluster.join):
        cluster.context.set_replicas_on_offline_dirs(3, {P})
        change(3)
        assert cluster.context.has_log(3, P)


# ------------------------------------------------------------------------------------------------------------- startup


def test_a_broker_that_joins_learns_everything_before_it_gets_orders(cluster):
    cluster.fail(1)
    cluster.sent.clear()
    cluster.join(1)
    kinds = [type(request) for to, request in cluster.sent if to == 1]
    assert kinds[0] is UpdateMetadataRequest
    assert LeaderAndIsrRequest in kinds
    first = next(request for to, request in cluster.sent if to == 1)
    assert {state.topic_name for state in first.ungrouped_partition_states} == {"t", "u", "single"}
    assert cluster.replica_state(1) is ReplicaState.ONLINE
    assert cluster.leader(SINGLE) == 1, "it waited for the broker"
    assert cluster.leader(P) == 2
    assert cluster.reassigner.told[-1] == ("startup", [1])


def test_a_deletion_goes_on_when_its_broker_is_back(cluster):
    cluster.fail(3)
    cluster.deletion.enqueue_topics_for_deletion(["t"])
    for response in cluster.responses:
        cluster.deletion.stop_replica_responded(*response)
    cluster.sent.clear()
    cluster.join(3)
    stops = [(to, request.delete_partitions) for to, request in cluster.told(StopReplicaRequest)]
    assert (set(stops), stops[-1]) == ({(3, False), (3, True)}, (3, True))
    assert cluster.told(LeaderAndIsrRequest) == [], "nobody starts the replica"


# ---------------------------------------------------------------------------------------------- failed log directories


def test_replicas_on_a_failed_log_directory_lose_their_leadership(cluster):
    lost = [PartitionAndReplica(P, 1), PartitionAndReplica(Q, 1)]
    cluster.context.set_replicas_on_offline_dirs(1, {P, Q})
    cluster.changes.on_replicas_become_offline(lost)
    assert (cluster.leader(P), cluster.isr(P)) == (2, [2, 3])
    assert (cluster.leader(Q), cluster.isr(Q)) == (2, [2])
    assert cluster.leader(SINGLE) == 1, "it is on another directory"
    _, request = cluster.told(UpdateMetadataRequest)[-1]
    offline = {state.topic_name: state.offline_replicas for state in request.ungrouped_partition_states}
    assert offline == {"t": [1], "u": [1]}


def test_a_replica_of_a_partition_without_a_leader_may_be_lost(cluster):
    del cluster.context.partition_leadership_info[P]
    cluster.changes.on_replicas_become_offline([PartitionAndReplica(P, 1)])
    assert cluster.partitions.state(P) is PartitionState.ONLINE


# ------------------------------------------------------------------------------------------------- controlled shutdown


def test_a_controlled_shutdown_moves_leaders_and_stops_followers(cluster):
    assert cluster.changes.shut_down(1) == set()
    assert (cluster.leader(P), cluster.isr(P)) == (2, [2, 3])
    assert (cluster.leader(Q), cluster.isr(Q)) == (2, [2])
    assert cluster.leader(SINGLE) == 1, "no other broker has it"
    assert cluster.context.shutting_down_broker_ids == {1}
    stops = [(to, r.delete_partitions, r.ungrouped_partitions) for to, r in cluster.told(StopReplicaRequest)]
    assert {(to, delete) for to, delete, _ in stops} == {(1, False)}
    assert {each.topic_name for _, _, partitions in stops for each in partitions} == {"u"}
    assert cluster.replica_state(1, Q) is ReplicaState.OFFLINE
    assert cluster.replica_state(1, P) is ReplicaState.ONLINE


def test_a_follower_stops_fetching_before_it_leaves_the_isr(cluster):
    seen = []
    cluster.zk.before_update = lambda: seen.extend(cluster.sent)
    cluster.changes.shut_down(3)
    [(to, request)] = seen
    assert (to, type(request), request.delete_partitions) == (3, StopReplicaRequest, False)


def test_partitions_that_cannot_be_moved_are_returned(cluster):
    cluster.fail(2)
    cluster.fail(3)
    assert cluster.changes.shut_down(1) == {P, Q}, "not the one that has a single replica"
    assert cluster.leader(P) == 1


def test_a_partition_that_has_no_leader_yet_is_left_alone(cluster, caplog):
    del cluster.context.partition_leadership_info[Q]
    cluster.changes.shut_down(1)
    assert cluster.told(StopReplicaRequest) == []
    assert "state change of replica" not in caplog.text, "what is logged is a failure"


def test_a_second_broker_that_shuts_down_gets_no_leadership(cluster):
    cluster.changes.shut_down(2)
    cluster.changes.shut_down(1)
    assert (cluster.leader(P), cluster.isr(P)) == (3, [3])


# ---------------------------------------------------------------------------------- what has changed among the brokers


def test_a_broker_that_has_registered_gets_a_channel_and_its_replicas():
    cluster = Cluster(live=(1, 2))
    cluster.registrations.epochs[3] = 1
    cluster.changes.process_broker_change()
    assert cluster.channels.told == [("add", 3)]
    assert cluster.reassigner.told == [("startup", [3])]
    assert cluster.context.live_broker_ids == {1, 2, 3}


def test_a_broker_that_is_gone_loses_its_channel_and_its_leaderships():
    cluster = Cluster()
    del cluster.registrations.epochs[1]
    cluster.changes.process_broker_change()
    assert cluster.channels.told == [("remove", 1)]
    assert cluster.reassigner.told == [("failure", [1])]
    assert cluster.leader(P) == 2


def test_a_broker_with_a_new_epoch_has_stopped_and_started():
    cluster = Cluster()
    cluster.registrations.epochs[1] = 2
    cluster.changes.process_broker_change()
    assert cluster.channels.told == [("remove", 1), ("add", 1)]
    assert cluster.reassigner.told == [("failure", [1]), ("startup", [1])]
    assert cluster.leader(P) == 2, "it lost its leadership while it was away"
    assert cluster.context.broker_epochs[1] == 2


def test_without_a_change_nothing_follows():
    cluster = Cluster()
    cluster.changes.process_broker_change()
    assert (cluster.channels.told, cluster.reassigner.told, cluster.sent) == ([], [], [])


def test_a_broker_that_cannot_be_read_does_not_count(caplog):
    cluster = Cluster()
    cluster.registrations.unreadable.add(2)
    cluster.changes.process_broker_change()
    assert cluster.channels.told == [("remove", 2)]
    assert "Ignoring broker 2" in caplog.text


def test_a_broker_that_does_not_support_a_finalized_feature_is_ignored(cluster, caplog):
    cluster.finalized = {"transaction.version": 2}
    brokers, epochs = cluster.changes.read_brokers()
    assert (brokers, epochs) == ({}, {})
    assert "Ignoring broker 1: it does not support the finalized features {'transaction.version': 2}" in caplog.text
