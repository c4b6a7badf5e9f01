"""The controller against the embedded ZooKeeper; a recorder stands in for the brokers."""

import queue
import threading
import time

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.controller_channel_manager import ControllerChannelManager
from kafka_lite.controller.controller_config import ControllerConfig
from kafka_lite.controller.controller_event_thread import ControllerEvent
from kafka_lite.controller.kafka_controller import KafkaController
from kafka_lite.controller.partition_state_machine import PartitionState
from kafka_lite.protocol.messages.api_04_leader_and_isr import LeaderAndIsrRequest, LeaderAndIsrResponse
from kafka_lite.protocol.messages.api_05_stop_replica import StopReplicaRequest, StopReplicaResponse
from kafka_lite.protocol.messages.api_06_update_metadata import UpdateMetadataRequest, UpdateMetadataResponse
from kafka_lite.server.metadata_cache import MetadataCache
from kafka_lite.testing.cluster_zookeeper import end_session
from kafka_lite.zookeeper.data import BrokerRegistration, LeaderAndIsr, LeaderIsrAndControllerEpoch, TopicAssignment
from kafka_lite.zookeeper.embedded.embedded_zookeeper import EmbeddedZooKeeper
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from tests.support.controllers import new_controller
from tests.support.eventually import eventually
from tests.support.patience import patient_s


class Brokers:
    """Responds to every request without an error, and records it."""

    def __init__(self):
        self.requests = []
        self.caches = {}
        self.unreachable = set()
        self.stop_replica_error = 0
        self.changed = threading.Condition()

    def send(self, broker_id, request):
        if broker_id in self.unreachable:
            raise ConnectionError("no route to broker")
        with self.changed:
            self.requests.append((broker_id, request))
            answer = self.answer(broker_id, request)
            self.changed.notify_all()
        return answer

    def answer(self, broker_id, request):
        match request:
            case LeaderAndIsrRequest():
                return LeaderAndIsrResponse()
            case StopReplicaRequest():
                return StopReplicaResponse(error_code=self.stop_replica_error if request.delete_partitions else 0)
            case UpdateMetadataRequest():
                self.caches.setdefault(broker_id, MetadataCache(broker_id)).update_cache(request)
                return UpdateMetadataResponse()

    def of(self, kind, broker_id=None):
        return [r for b, r in self.requests if isinstance(r, kind) and broker_id in (None, b)]

    def leader(self, topic, partition=0, broker_id=1):
        cache = self.caches.get(broker_id)
        info = cache.get_partition_info(TopicPartition(topic, partition)) if cache else None
        return None if info is None else info.leader


def registration(broker_id):
    return BrokerRegistration((f"PLAINTEXT://127.0.0.1:{9090 + broker_id}",), {"PLAINTEXT": "PLAINTEXT"})


@pytest.fixture
def server(tmp_path):
    with EmbeddedZooKeeper(tmp_path, force_sync=False) as server:
        yield server


class Cluster:
    def __init__(self, server):
        self.server = server
        self.brokers = Brokers()
        self.clients = {}
        self.controllers: dict[int, KafkaController] = {}

    def start(self, broker_id, *, controller=True, **config):
        client = KafkaZkClient(self.server.connect_string, session_timeout_ms=6000)
        client.start()
        client.create_persistent_paths()
        self.clients[broker_id] = client
        client.register_broker(broker_id, registration(broker_id))
        if controller:
            self.controllers[broker_id] = new_controller(
                ControllerConfig(broker_id, **config), client, self.brokers.send
            )
            self.controllers[broker_id].startup()
        return client

    def await_brokers(self):
        """Wait until the controller knows every broker: it chooses leaders among the brokers that it knows."""
        known = self.clients.keys()
        # A controller that takes over reads the brokers first and the topics later, and is active when it has both.
        eventually(lambda: any(c.is_active and c.context.live_broker_ids >= known for c in self.controllers.values()))

    def stop(self, broker_id):
        if broker_id in self.controllers:
            self.controllers.pop(broker_id).shutdown()
        self.clients.pop(broker_id).close()

    def create_topic(self, name, assignment):
        self.await_brokers()
        client = next(iter(self.clients.values()))
        client.set_entity_config(f"topics/{name}", {})
        client.create_topic_assignment(name, TopicAssignment(assignment))


@pytest.fixture
def cluster(server):
    cluster = Cluster(server)
    yield cluster
    for broker_id in list(cluster.clients):
        cluster.stop(broker_id)


def test_the_first_broker_becomes_controller(cluster):
    zk = cluster.start(1)
    controller = cluster.controllers[1]
    assert controller.await_active(60)
    assert zk.get_controller_id() == 1
    assert zk.get_controller_epoch() == (1, 0)
    eventually(lambda: cluster.brokers.of(UpdateMetadataRequest))
    first = cluster.brokers.requests[0][1]
    assert isinstance(first, UpdateMetadataRequest)
    assert [b.id for b in first.live_brokers] == [1]


def test_a_topic_is_created_and_gets_more_partitions(cluster):
    zk = cluster.start(1)
    cluster.create_topic("t", {0: [1], 1: [1]})
    eventually(lambda: cluster.brokers.leader("t", 1) == 1)
    state = zk.get_partition_state(TopicPartition("t", 0))
    assert state == LeaderIsrAndControllerEpoch(LeaderAndIsr(1, [1], 0, 0), 1)
    (request,) = cluster.brokers.of(LeaderAndIsrRequest)
    assert [
        (s.topic_name, s.partition_index, s.leader, s.isr, s.replicas, s.is_new)
        for s in request.ungrouped_partition_states
    ] == [("t", 0, 1, [1], [1], True), ("t", 1, 1, [1], [1], True)]
    assert [leader.port for leader in request.live_leaders] == [9091]
    zk.set_topic_assignment("t", TopicAssignment({0: [1], 1: [1], 2: [1]}))
    eventually(lambda: cluster.brokers.leader("t", 2) == 1)
    assert [s.partition_index for s in cluster.brokers.of(LeaderAndIsrRequest)[-1].ungrouped_partition_states] == [2]


def test_a_topic_is_deleted(cluster):
    zk = cluster.start(1)
    cluster.create_topic("t", {0: [1], 1: [1]})
    cluster.create_topic("u", {0: [1]})
    eventually(lambda: cluster.brokers.leader("t", 1) == 1 and cluster.brokers.leader("u") == 1)
    zk.create_delete_topic("t")
    eventually(lambda: zk.get_topics_marked_for_deletion() == [])
    assert zk.get_all_topics() == ["u"]
    assert zk.get_entities("topics") == ["u"]
    assert not cluster.brokers.caches[1].contains("t")
    assert cluster.brokers.caches[1].contains("u")
    stops = cluster.brokers.of(StopReplicaRequest)
    assert [(r.delete_partitions, len(r.ungrouped_partitions)) for r in stops] == [(False, 2), (True, 2)]
    controller = cluster.controllers[1]
    assert controller.partition_state_machine.state(TopicPartition("t", 0)) is PartitionState.NON_EXISTENT
    cluster.create_topic("t", {0: [1]})
    eventually(lambda: cluster.brokers.leader("t") == 1)


def test_deletion_marks_of_unknown_topics_are_removed(cluster):
    zk = cluster.start(1)
    zk.create_delete_topic("nope")
    eventually(lambda: zk.get_topics_marked_for_deletion() == [])


def test_disabled_deletion_keeps_the_topic(cluster):
    zk = cluster.start(1, delete_topic_enable=False)
    cluster.create_topic("t", {0: [1]})
    eventually(lambda: cluster.brokers.leader("t") == 1)
    zk.create_delete_topic("t")
    eventually(lambda: zk.get_topics_marked_for_deletion() == [])
    assert zk.get_all_topics() == ["t"]


def test_a_failed_deletion_is_retried_when_the_broker_returns(cluster):
    zk = cluster.start(1)
    cluster.start(2, controller=False)
    cluster.create_topic("t", {0: [2, 1]})
    eventually(lambda: cluster.brokers.leader("t") == 2)
    cluster.stop(2)
    eventually(lambda: cluster.brokers.leader("t") == 1)
    zk.create_delete_topic("t")
    eventually(lambda: not cluster.brokers.caches[1].contains("t"))
    assert zk.get_all_topics() == ["t"]
    cluster.start(2, controller=False)
    eventually(lambda: zk.get_topics_marked_for_deletion() == [])
    assert zk.get_all_topics() == []


def test_an_error_of_the_broker_suspends_the_deletion(cluster):
    zk = cluster.start(1)
    cluster.create_topic("t", {0: [1]})
    eventually(lambda: cluster.brokers.leader("t") == 1)
    cluster.brokers.stop_replica_error = 56
    zk.create_delete_topic("t")
    manager = cluster.controllers[1].topic_deletion_manager
    eventually(lambda: "t" in manager._ineligible)
    assert zk.get_all_topics() == ["t"]
    cluster.brokers.stop_replica_error = 0
    controller = cluster.controllers[1]
    controller._enqueue("test", lambda: manager.resume_deletion_for_topics(["t"]))
    eventually(lambda: zk.get_all_topics() == [])


def test_a_leader_dies_and_returns(cluster):
    zk = cluster.start(1)
    cluster.start(2, controller=False)
    cluster.create_topic("t", {0: [2, 1]})
    eventually(lambda: cluster.brokers.leader("t") == 2)
    cluster.stop(2)
    eventually(lambda: cluster.brokers.leader("t") == 1)
    eventually(lambda: [b.id for b in cluster.brokers.caches[1].get_alive_brokers()] == [1])
    state = zk.get_partition_state(TopicPartition("t", 0)).leader_and_isr
    assert (state.leader, state.isr) == (1, [1])
    cluster.start(2, controller=False)
    eventually(lambda: cluster.brokers.of(LeaderAndIsrRequest, 2)[-1].ungrouped_partition_states[0].leader == 1)
    assert zk.get_partition_state(TopicPartition("t", 0)).leader_and_isr.leader == 1


def test_a_broker_that_restarts_before_the_controller_looks_gets_its_orders_again(cluster):
    zk = cluster.start(1)
    cluster.start(2, controller=False)
    cluster.create_topic("t", {0: [2, 1]})
    eventually(lambda: cluster.brokers.leader("t") == 2)
    looks_away, looks = threading.Event(), threading.Event()
    cluster.controllers[1]._enqueue("Busy", lambda: (looks_away.set(), looks.wait(patient_s(60))))
    assert looks_away.wait(patient_s(60))
    orders = len(cluster.brokers.of(LeaderAndIsrRequest, 2))
    cluster.stop(2)
    cluster.start(2, controller=False)
    looks.set()
    eventually(lambda: len(cluster.brokers.of(LeaderAndIsrRequest, 2)) > orders)
    state = zk.get_partition_state(TopicPartition("t", 0)).leader_and_isr
    assert (state.leader, state.isr) == (1, [1])
    (told,) = cluster.brokers.of(LeaderAndIsrRequest, 2)[-1].ungrouped_partition_states
    assert (told.leader, told.isr) == (1, [1])


def shut_down(controller, broker_id):
    """The error, and the partitions that the broker still leads."""
    responses = queue.Queue()
    controller.shutdown_broker(broker_id, lambda *response: responses.put(response))
    return responses.get(timeout=patient_s(60))


def test_a_controlled_shutdown_moves_leaders(cluster):
    zk = cluster.start(1)
    cluster.start(2, controller=False)
    cluster.create_topic("led", {0: [2, 1]})
    cluster.create_topic("followed", {0: [1, 2]})
    cluster.create_topic("alone", {0: [2]})
    eventually(lambda: cluster.brokers.leader("led") == cluster.brokers.leader("alone") == 2)
    eventually(lambda: cluster.brokers.leader("followed") == 1)
    controller = cluster.controllers[1]
    assert shut_down(controller, 2) == (Errors.NONE, [])
    states = {topic: zk.get_partition_state(TopicPartition(topic, 0)).leader_and_isr for topic in ("led", "followed")}
    assert {topic: (state.leader, state.isr) for topic, state in states.items()} == {
        "led": (1, [1]),
        "followed": (1, [1]),
    }
    assert zk.get_partition_state(TopicPartition("alone", 0)).leader_and_isr.leader == 2, "it has no other replica"
    eventually(lambda: cluster.brokers.leader("led") == 1)
    eventually(lambda: any(not stop.delete_partitions for stop in cluster.brokers.of(StopReplicaRequest, 2)))
    (stopped, *_) = cluster.brokers.of(StopReplicaRequest, 2)
    assert [p.topic_name for p in stopped.ungrouped_partitions] == ["followed"]
    zk.create_topic_assignment("later", TopicAssignment({0: [2, 1]}))
    eventually(lambda: cluster.brokers.leader("later") == 1)  # broker 2 counts as dead until it registers again
    cluster.stop(2)
    eventually(lambda: controller.context.shutting_down_broker_ids == set())


def test_a_controlled_shutdown_lists_partitions_that_could_not_be_moved(cluster):
    zk = cluster.start(1)
    cluster.start(2, controller=False)
    cluster.await_brokers()
    partition = partition_in_sync_on_2_only(cluster, zk)
    assert shut_down(cluster.controllers[1], 2) == (Errors.NONE, [partition])


def test_a_controlled_shutdown_needs_the_controller_and_a_registered_broker(cluster):
    cluster.start(1)
    cluster.start(2)
    cluster.await_brokers()
    active, other = sorted(cluster.controllers.values(), key=lambda controller: not controller.is_active)
    assert shut_down(active, 9) == (Errors.BROKER_NOT_AVAILABLE, ())
    assert shut_down(other, 1) == (Errors.STALE_CONTROLLER_EPOCH, ())


def partition_in_sync_on_2_only(cluster, zk):
    """A new partition of brokers 1 and 2, led by 2."""
    zk.create_topic_assignment("t", TopicAssignment({0: [2, 1]}))
    partition = TopicPartition("t", 0)
    eventually(lambda: cluster.brokers.leader("t") == 2)
    only_2 = LeaderIsrAndControllerEpoch(LeaderAndIsr(2, [2], 0, 0), 1)
    assert zk.update_partition_state(partition, only_2) == 1
    zk.propagate_isr_changes([partition])
    eventually(lambda: zk.get_isr_change_notifications() == [])
    return partition


def test_without_a_replica_in_the_isr_the_partition_stays_offline(cluster):
    zk = cluster.start(1)
    cluster.start(2, controller=False)
    zk.set_entity_config("topics/t", {"unclean.leader.election.enable": "false"})
    cluster.await_brokers()
    partition = partition_in_sync_on_2_only(cluster, zk)
    eventually(lambda: cluster.brokers.caches[1].get_partition_info(partition).isr == (2,))
    machine = cluster.controllers[1].partition_state_machine
    cluster.stop(2)
    eventually(lambda: machine.state(partition) is PartitionState.OFFLINE)
    cluster.start(2, controller=False)
    eventually(lambda: machine.state(partition) is PartitionState.ONLINE)
    eventually(lambda: cluster.brokers.leader("t") == 2)
    assert zk.get_partition_state(partition).leader_and_isr.isr == [2]


@pytest.mark.parametrize("by", ["default", "topic"])
def test_an_unclean_replica_is_elected_once_the_topic_allows_it(cluster, by):
    defaults = {"unclean.leader.election.enable": "false"}
    zk = cluster.start(1, topic_defaults=lambda: defaults)
    cluster.start(2, controller=False)
    cluster.await_brokers()
    partition = partition_in_sync_on_2_only(cluster, zk)
    controller = cluster.controllers[1]
    cluster.stop(2)
    eventually(lambda: controller.partition_state_machine.state(partition) is PartitionState.OFFLINE)
    if by == "default":
        defaults["unclean.leader.election.enable"] = "true"
        controller.enable_default_unclean_leader_election()
    else:
        zk.set_entity_config("topics/t", {"unclean.leader.election.enable": "true"})
        controller.enable_topic_unclean_leader_election("another")
        controller.enable_topic_unclean_leader_election("t")
    eventually(lambda: cluster.brokers.leader("t") == 1)
    assert zk.get_partition_state(partition).leader_and_isr.isr == [1]


def test_the_next_controller_takes_over(cluster):
    cluster.start(1)
    assert cluster.controllers[1].await_active(60)
    zk = cluster.start(2)
    cluster.create_topic("t", {0: [1, 2], 1: [2, 1]})
    eventually(lambda: cluster.brokers.leader("t", 0) == 1)
    assert not cluster.controllers[2].is_active
    cluster.stop(1)
    assert cluster.controllers[2].await_active(60)
    assert zk.get_controller_epoch() == (2, 1)
    eventually(lambda: cluster.brokers.leader("t", 0, broker_id=2) == 2)
    assert zk.get_partition_state(TopicPartition("t", 0)).controller_epoch == 2


def test_the_first_metadata_of_a_controller_has_all_partitions(cluster):
    """Also those without a live replica. A broker that starts without them tells clients that they do not exist."""
    cluster.start(1)
    cluster.start(2, controller=False)
    cluster.create_topic("t", {0: [1], 1: [2]})
    eventually(lambda: (cluster.brokers.leader("t", 0), cluster.brokers.leader("t", 1)) == (1, 2))
    cluster.stop(1)
    cluster.brokers.requests.clear()
    cluster.start(3)
    first = eventually(lambda: cluster.brokers.of(UpdateMetadataRequest, 3))[0]
    assert sorted((state.topic_name, state.partition_index) for state in first.ungrouped_partition_states) == [
        ("t", 0), ("t", 1),
    ]  # fmt: skip


def test_a_deposed_controller_resigns(cluster):
    zk = cluster.start(1)
    assert cluster.controllers[1].await_active(60)
    zk.zookeeper.set("/controller", b'{"version":1,"brokerid":9,"timestamp":"1"}')
    eventually(lambda: not cluster.controllers[1].is_active)
    zk.delete_controller()
    assert cluster.controllers[1].await_active(60)
    assert zk.get_controller_epoch()[0] == 2


def test_a_controller_elected_in_a_new_session_before_it_hears_of_the_old_ones_end_stays_controller(cluster):
    """A change of /controller was waiting when the session ended, and has it elected again first."""
    zk = cluster.start(1)
    controller = cluster.controllers[1]
    assert controller.await_active(60)
    begun, go_on, last = threading.Event(), threading.Event(), threading.Event()
    controller._thread.put(ControllerEvent("Held", lambda: (begun.set(), go_on.wait())))
    assert begun.wait(patient_s(60))
    zk.zookeeper.set("/controller", b'{"version":1,"brokerid":1,"timestamp":"1"}')
    waiting = controller._thread._queue
    eventually(lambda: "ControllerChange" in [event.name for event in list(waiting.queue)])
    end_session(cluster.server.connect_string, zk.zookeeper.session)
    eventually(lambda: "SessionExpired" in [event.name for event in list(waiting.queue)])
    go_on.set()
    controller._thread.put(ControllerEvent("Last", last.set))
    assert last.wait(patient_s(60))
    eventually(lambda: controller.is_active and zk.get_controller_id() == 1)
    assert zk.get_controller_epoch()[0] == controller.epoch == 2


def test_a_controller_that_another_one_has_fenced_writes_nothing_and_resigns(cluster):
    """As after a long pause: another controller was elected and is gone again, and this one has not noticed."""
    zk = cluster.start(1)
    controller = cluster.controllers[1]
    assert controller.await_active(60)
    cluster.await_brokers()
    zk.zookeeper.set("/controller_epoch", b"7")
    zk.create_topic_assignment("t", TopicAssignment({0: [1]}))
    eventually(lambda: controller.epoch == 8 and controller.is_active)
    eventually(lambda: cluster.brokers.leader("t") == 1)
    assert zk.get_partition_state(TopicPartition("t", 0)).controller_epoch == 8
    assert all(request.controller_epoch in (1, 8) for request in cluster.brokers.of(LeaderAndIsrRequest))


def test_requests_to_a_controller_that_another_one_has_fenced_are_refused_without_a_stack_trace(cluster, caplog):
    zk = cluster.start(1)
    controller = cluster.controllers[1]
    assert controller.await_active(60)  # before another broker can win the election
    cluster.start(2)
    cluster.await_brokers()
    zk.create_topic_assignment("t", TopicAssignment({0: [1, 2]}))
    eventually(lambda: cluster.brokers.leader("t") == 1)
    refused: list[object] = []
    zk.zookeeper.set("/controller_epoch", b"7")
    controller.shutdown_broker(1, lambda error, partitions: refused.append(error))
    eventually(lambda: refused)
    assert refused == [Errors.STALE_CONTROLLER_EPOCH]
    active = eventually(lambda: [each for each in cluster.controllers.values() if each.is_active and each.epoch == 8])
    zk.zookeeper.set("/controller_epoch", b"20")
    active[0].alter_partition_reassignments({TopicPartition("t", 0): [2, 1]}, refused.append)
    eventually(lambda: refused[1:] == [None])
    eventually(lambda: any(each.is_active and each.epoch == 21 for each in cluster.controllers.values()))
    assert "Error processing controller event" not in caplog.text


def test_a_controller_that_cannot_raise_the_epoch_resigns(cluster):
    zk = cluster.start(1, controller=False)
    zk.zookeeper.create("/controller_epoch", b"rubbish")
    controller = new_controller(ControllerConfig(1), zk, cluster.brokers.send)
    cluster.controllers[1] = controller
    controller.startup()
    time.sleep(0.2)
    assert not controller.is_active
    zk.zookeeper.set("/controller_epoch", b"7")
    assert controller.await_active(60)
    assert controller.epoch == 8


def test_requests_to_an_unreachable_broker_are_retried(cluster):
    cluster.brokers.unreachable.add(1)
    cluster.start(1)
    cluster.create_topic("t", {0: [1]})
    assert cluster.controllers[1].await_active(60)
    cluster.brokers.unreachable.clear()
    eventually(lambda: cluster.brokers.leader("t") == 1)


def test_a_request_to_an_unknown_broker_is_dropped(caplog):
    manager = ControllerChannelManager(1, lambda broker_id, request: None)
    manager.send_request(5, UpdateMetadataRequest())
    assert "offline" in caplog.text
