"""The orders to the brokers: one request of each kind for each, in an order that clients can rely on."""

from uuid import UUID

import pytest

from kafka_lite.common.process.log_levels import TRACE
from kafka_lite.common.state_change_logger import bracketed
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.controller_broker_request_batch import ControllerBrokerRequestBatch
from kafka_lite.controller.controller_context import PartitionAndReplica
from kafka_lite.controller.partition_state_machine import PartitionState
from kafka_lite.controller.replica_assignment import ReplicaAssignment
from kafka_lite.controller.replica_state_machine import ReplicaState
from kafka_lite.protocol.messages.api_04_leader_and_isr import (
    LeaderAndIsrPartitionError,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicError,
)
from kafka_lite.protocol.messages.api_05_stop_replica import (
    StopReplicaPartitionError,
    StopReplicaRequest,
)
from kafka_lite.protocol.messages.api_06_update_metadata import UpdateMetadataRequest
from tests.support.state_machines import Controller, P


def test_a_new_batch_after_one_that_was_not_sent_is_an_error():
    controller = Controller()
    batch = controller.batch()
    batch.new_batch()
    batch.add_update_metadata([1], [])
    with pytest.raises(RuntimeError, match="not empty"):
        batch.new_batch()
    batch.new_batch()


def test_the_metadata_of_a_partition_is_that_of_its_last_change():
    """Its replicas may change one after another in one batch."""
    controller = Controller()
    controller.create()
    controller.sent.clear()
    controller.die(2)
    controller.die(3)
    gone = [PartitionAndReplica(P, 2), PartitionAndReplica(P, 3)]
    controller.replicas.handle_state_changes(gone, ReplicaState.OFFLINE)
    ((to, request),) = controller.told(UpdateMetadataRequest)
    (state,) = request.ungrouped_partition_states
    assert (to, state.isr, state.zk_version) == (1, [1], controller.state().zk_version)


def test_a_partition_that_has_no_leader_yet_is_left_out_of_the_metadata():
    controller = Controller()
    controller.update_metadata([P])
    assert [request.ungrouped_partition_states for _, request in controller.told(UpdateMetadataRequest)] == [[]] * 3


def test_the_metadata_of_later_versions_is_by_topic_with_ids_and_meant_for_one_run_of_a_broker():
    partitions = {TopicPartition(topic, number): [1, 2] for topic in "ut" for number in (1, 0)}
    controller = Controller(live=(1, 2), assignment=partitions)
    controller.partitions.handle_state_changes(list(partitions), PartitionState.NEW)
    controller.partitions.handle_state_changes(list(partitions), PartitionState.ONLINE)
    controller.context.broker_epochs = {1: 11}
    controller.context.topic_ids = {"t": UUID(int=7)}
    controller.sent.clear()
    batch = ControllerBrokerRequestBatch(
        1, controller.context, controller.send, list, request_version=lambda _api_key: 7
    )
    batch.add_update_metadata([1, 2], list(partitions))
    batch.send_requests_to_brokers()
    assert [(to, request.broker_epoch) for to, request in controller.sent] == [(1, 11), (2, -1)]
    for _, request in controller.sent:
        assert request.ungrouped_partition_states == []
        told = [
            (topic.topic_name, topic.topic_id.int, [state.partition_index for state in topic.partition_states])
            for topic in request.topic_states
        ]
        assert told == [("t", 7, [0, 1]), ("u", 0, [0, 1])]
        request.encode(7)


def test_orders_of_later_versions_are_by_topic_and_have_reassignments():
    partitions = {TopicPartition(topic, number): [1, 2] for topic in "tu" for number in (0, 1)}
    controller = Controller(live=(1, 2), assignment=partitions)
    controller.partitions.handle_state_changes(list(partitions), PartitionState.NEW)
    controller.partitions.handle_state_changes(list(partitions), PartitionState.ONLINE)
    topic_id = UUID(int=7)
    controller.context.broker_epochs = {1: 11}
    controller.context.topic_ids, controller.context.topic_names = {"t": topic_id}, {topic_id: "t"}
    controller.context.partitions_being_reassigned[P] = ReplicaAssignment([1, 2, 3], [3], [1])
    sent, responses = [], []
    batch = ControllerBrokerRequestBatch(
        1,
        controller.context,
        lambda _to, request, callback: sent.append((request, callback)),
        list,
        leader_and_isr_responded=lambda broker_id, response: responses.append((broker_id, response)),
        request_version=lambda _api_key: 5,
    )
    for partition in partitions:
        batch.add_leader_and_isr([1], partition, controller.context.partition_leadership_info[partition], [1, 2])
    batch.send_requests_to_brokers()
    request, callback = next((r, c) for r, c in sent if isinstance(r, LeaderAndIsrRequest))
    request.encode(5)
    assert (request.broker_epoch, request.ungrouped_partition_states) == (11, [])
    told = {
        topic.topic_name: (topic.topic_id.int, [(s.partition_index, s.adding_replicas) for s in topic.partition_states])
        for topic in request.topic_states
    }
    assert told == {"t": (7, [(0, [3]), (1, [])]), "u": (0, [(0, []), (1, [])])}
    assert request.topic_states[0].partition_states[0].removing_replicas == [1]
    error = LeaderAndIsrPartitionError(partition_index=1, error_code=56)
    callback(LeaderAndIsrResponse(topics=[LeaderAndIsrTopicError(topic_id=topic_id, partition_errors=[error])]))
    ((broker_id, response),) = responses
    assert broker_id == 1
    assert [(e.topic_name, e.partition_index, e.error_code) for e in response.partition_errors] == [("t", 1, 56)]


def test_each_broker_gets_one_request_of_each_kind():
    partitions = {TopicPartition("t", number): [1, 2] for number in range(4)}
    controller = Controller(live=(1, 2), assignment=partitions)
    controller.partitions.handle_state_changes(list(partitions), PartitionState.NEW)
    controller.partitions.handle_state_changes(list(partitions), PartitionState.ONLINE)
    assert [(b, len(r.ungrouped_partition_states)) for b, r in controller.told(LeaderAndIsrRequest)] == [(1, 4), (2, 4)]
    assert [len(r.ungrouped_partition_states) for _, r in controller.told(UpdateMetadataRequest)] == [4, 4]


def test_the_metadata_of_a_set_of_partitions_is_in_their_order():
    partitions = {TopicPartition(topic, 0): [1] for topic in "zyxwv"}
    controller = Controller(live=(1,), assignment=partitions)
    controller.partitions.handle_state_changes(list(partitions), PartitionState.NEW)
    controller.partitions.handle_state_changes(list(partitions), PartitionState.ONLINE)
    controller.sent.clear()
    controller.update_metadata(list(partitions))
    ((_, request),) = controller.told(UpdateMetadataRequest)
    assert [state.topic_name for state in request.ungrouped_partition_states] == list("vwxyz")


def test_broker_0_gets_its_requests_too():
    controller = Controller(live=(0,), assignment={P: [0]})
    controller.create()
    assert [(b, type(request)) for b, request in controller.sent[:2]] == [
        (0, LeaderAndIsrRequest),
        (0, UpdateMetadataRequest),
    ]


def test_replicas_that_are_only_stopped_come_before_those_that_are_deleted():
    controller = Controller()
    batch = controller.batch()
    batch.new_batch()
    batch.add_stop_replica(PartitionAndReplica(P, 1), delete=True)
    batch.add_stop_replica(PartitionAndReplica(TopicPartition("u", 0), 1), delete=False)
    batch.send_requests_to_brokers()
    assert [request.delete_partitions for _, request in controller.told(StopReplicaRequest)] == [False, True]


def test_the_metadata_says_which_replicas_are_on_failed_disks():
    controller = Controller()
    controller.create()
    controller.sent.clear()
    controller.context.set_replicas_on_offline_dirs(2, {P})
    controller.update_metadata([P])
    assert controller.told(UpdateMetadataRequest)[0][1].ungrouped_partition_states[0].offline_replicas == [2]


def test_state_changes_of_a_partition_are_logged_as_by_kafka(caplog):
    controller = Controller(live=(1,), assignment={P: [1]})
    with caplog.at_level(TRACE, "state.change.logger"):
        controller.create()
        controller.partitions.handle_state_changes([P], PartitionState.OFFLINE)
        controller.partitions.handle_state_changes([P], PartitionState.ONLINE)
    who, name = "Controller 1 epoch 5", bracketed(P)
    state = "(Leader:1,ISR:1,LeaderEpoch:0,ControllerEpoch:5)"
    for line in (
        f"{who} changed partition {name} state from NonExistentPartition to NewPartition with assigned replicas 1",
        f"{who} changed state of replica 1 for partition {name} from NonExistentReplica to NewReplica",
        f"{who} changed partition {name} from NewPartition to OnlinePartition with leader 1",
        f"{who} sending become-leader LeaderAndIsr request {state} to broker 1 for partition {name}",
        f"{who} sending UpdateMetadata request {state} to brokers [1] for partition {P}",
        f"{who} changed state of replica 1 for partition {name} from NewReplica to OnlineReplica",
        f"{who} changed partition {name} state from OnlinePartition to OfflinePartition",
        f"{who} started leader election for partition {name}",
        f"{who} elected leader 1 for Offline partition {name}",
    ):
        assert caplog.messages.count(line) == 1, line


def test_one_request_deletes_all_replicas_of_a_broker_and_each_has_its_own_error():
    other = TopicPartition("t", 1)
    controller = Controller(live=(1,), assignment={P: [1], other: [1]})
    controller.create(P)
    controller.create(other)
    controller.sent.clear()
    controller.deletion.enqueue_topics_for_deletion({"t"})
    stops = [request for _, request in controller.told(StopReplicaRequest)]
    assert [(stop.delete_partitions, len(stop.ungrouped_partitions)) for stop in stops] == [(False, 2), (True, 2)]
    ((replicas, response),) = controller.responses
    failed = StopReplicaPartitionError(topic_name="t", partition_index=1, error_code=56)
    done = StopReplicaPartitionError(topic_name="t", partition_index=0, error_code=0)
    response.partition_errors = [done, failed]
    controller.deletion.stop_replica_responded(replicas, response)
    states = {r.partition.partition: controller.replicas.state(r) for r in replicas}
    assert states == {0: ReplicaState.DELETION_SUCCESSFUL, 1: ReplicaState.DELETION_INELIGIBLE}
    assert controller.zk.deleted == []
