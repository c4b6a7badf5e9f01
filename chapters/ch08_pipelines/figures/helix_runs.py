"""A recorded run of Helix: one partition, from the ideal state to the external view. Its threads are moved by hand.

Book 8.2.1, 8.2.2.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from kafka_learn.recording.recorded_run import Detail, RecordedRun
from kafka_learn.recording.recorder import Call, Recording, Watch
from kafka_learn.recording.run_brokers import in_thread
from kafka_learn.recording.watches import watch
from kafka_lite.mirror.helix.manager.generic_helix_controller import Election, GenericHelixController
from kafka_lite.mirror.helix.manager.participant_manager import ParticipantManager
from kafka_lite.mirror.helix.manager.zk_helix_admin import ZKHelixAdmin
from kafka_lite.mirror.helix.manager.zk_helix_data_accessor import ZKHelixDataAccessor
from kafka_lite.mirror.helix.model.built_in_state_models import ONLINE_OFFLINE
from kafka_lite.mirror.helix.model.message import Message
from kafka_lite.mirror.helix.model.state_model_definition import Transition
from kafka_lite.mirror.helix.participant.state_model import Action, StateMachineEngine, StateModel
from kafka_lite.mirror.helix.pipeline import ClusterEvent
from kafka_lite.mirror.helix.property_paths import PropertyPaths
from kafka_lite.mirror.helix.writes import Write
from kafka_lite.mirror.ureplicator.controller.ideal_state_builder import build_custom_ideal_state_for
from kafka_lite.mirror.ureplicator.controller.instance_topic_partition_holder import (
    HolderQueue,
    InstanceTopicPartitionHolder,
)
from kafka_lite.mirror.ureplicator.helix_names import OFFLINE, ONLINE
from kafka_lite.zookeeper.embedded.embedded_zookeeper import EmbeddedZooKeeper
from kafka_lite.zookeeper.zookeeper_client import ZooKeeperClient

PATHS = PropertyPaths("ur")
TOPIC, WORKER = "t", "w1"
CONTROLLER_THREAD, WORKER_THREAD, ADMIN_THREAD = "HelixController", "HelixParticipant-w1", "REST"
SESSION_MS = 60_000
LANES = ("ZKHelixAdmin", "GenericHelixController", "ParticipantManager", "Copying", "ZKHelixDataAccessor")


class Copying(StateModel):
    """A worker's partition: ONLINE means that it is copied."""

    def transitions(self) -> dict[Transition, Action]:
        """The only one that this run has."""
        return {(OFFLINE, ONLINE): self.on_become_online_from_offline}

    def on_become_online_from_offline(self, _message: Message) -> None:
        """Here a worker adds the partition to its fetchers."""


class Parts(NamedTuple):
    """A cluster whose controller leads, and whose only worker has joined; nothing is mirrored."""

    admin: ZKHelixAdmin
    controller: GenericHelixController
    worker: ParticipantManager


@contextmanager
def running_parts() -> Iterator[Parts]:
    """On the embedded ZooKeeper. Nobody starts the threads: a run calls them in turn."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        zookeeper = stack.enter_context(EmbeddedZooKeeper(folder, force_sync=False))

        def connect() -> ZKHelixDataAccessor:
            client = ZooKeeperClient(zookeeper.connect_string, SESSION_MS, SESSION_MS)
            client.connect()
            stack.callback(client.close)
            return ZKHelixDataAccessor(client, PATHS)

        admin, engine = ZKHelixAdmin(connect()), StateMachineEngine()
        admin.add_cluster([ONLINE_OFFLINE])
        engine.register(ONLINE_OFFLINE.name, lambda _resource, _partition: Copying(OFFLINE), OFFLINE)
        controller = GenericHelixController(connect(), "controller")
        worker = ParticipantManager(connect(), WORKER, engine)
        worker._join()
        controller._handle(Election.LEADER_CHANGE)
        yield Parts(admin, controller, worker)


def helix_watches() -> list[Watch]:
    """The three programs, and what each of them writes."""
    return [
        *watch(ZKHelixAdmin.add_resource, show=()),
        *watch(GenericHelixController._run_pipeline, show=_event),
        *watch(ParticipantManager._take_messages, show=()),
        *watch(Copying.on_become_online_from_offline, show=()),
        *watch(ZKHelixDataAccessor.apply, show=_writes),
    ]


def _event(call: Call) -> Detail:
    return {"event": call.argument("event").value}


def _writes(call: Call) -> Detail:
    """Each znode with its new content; a message has its transition instead of its random name."""
    writes: list[Write] = call.argument("writes")
    return {f"{number}": _told(each) for number, each in enumerate(writes, 1)}


def _told(write: Write) -> str:
    verb, path = type(write).__name__.lower(), write.path.removeprefix(f"{PATHS.root}/")
    path = re.sub(r"(CURRENTSTATES/)[0-9a-f]+", r"\1SESSION", path)
    record = getattr(write, "record", None)
    if "/MESSAGES/" in path:
        path = path.rpartition("/")[0]
        fields = record.simple_fields if record is not None else {}
        return " ".join((verb, path, *(fields[key] for key in ("TO_STATE", "MSG_STATE") if key in fields)))
    states = "" if record is None else " ".join(f"{key}: {_state(value)}" for key, value in record.map_fields.items())
    return f"{verb} {path} {states}".rstrip()


def _state(states: dict[str, str]) -> str:
    return states.get("CURRENT_STATE") or " ".join(f"{instance} {state}" for instance, state in states.items())


def from_message_to_external_view() -> RecordedRun:
    """A topic with one partition is added; the controller asks the worker for it, and then sees that it has it."""
    with (
        Recording(helix_watches(), title="From the ideal state to the external view", paused=True) as recording,
        running_parts() as parts,
        recording.running(),
    ):
        ideal_state = build_custom_ideal_state_for(TOPIC, 1, HolderQueue([InstanceTopicPartitionHolder(WORKER)]))
        in_thread(ADMIN_THREAD, lambda: parts.admin.add_resource(ideal_state))
        in_thread(CONTROLLER_THREAD, lambda: parts.controller._handle(ClusterEvent.IDEAL_STATE_CHANGE))
        in_thread(WORKER_THREAD, parts.worker._take_messages)
        in_thread(CONTROLLER_THREAD, lambda: parts.controller._handle(ClusterEvent.CURRENT_STATE_CHANGE))
        recording.pause()
    return recording.run.recorded_in(__name__, "from_message_to_external_view", LANES)


RUNS: dict[str, Callable[[], RecordedRun]] = {"helix-transition": from_message_to_external_view}
