"""A cluster of Helix in memory, step by step, for a notebook in which one kills instances. Book 8.2.1.

The controller's pipeline and the participants' decisions are the shipped ones. ZooKeeper is a dict, and there are no
threads: each step is one run of the controller, after which the participants carry out all their messages.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from kafka_lite.mirror.helix.model.current_state import CurrentState
from kafka_lite.mirror.helix.model.ideal_state import IdealState, RebalanceMode
from kafka_lite.mirror.helix.model.instance_config import InstanceConfig
from kafka_lite.mirror.helix.model.live_instance import LiveInstance
from kafka_lite.mirror.helix.model.message import Message
from kafka_lite.mirror.helix.model.state_model_definition import DROPPED, StateModelDefinition, Transition
from kafka_lite.mirror.helix.participant.message_receiver import receive_messages
from kafka_lite.mirror.helix.participant.state_model import Action, StateMachineEngine, StateModel
from kafka_lite.mirror.helix.participant.state_transition_handler import run_transition, writes_after
from kafka_lite.mirror.helix.pipeline import ClusterEvent, run_pipeline
from kafka_lite.mirror.helix.property_paths import PropertyPaths
from kafka_lite.mirror.helix.stages.cluster_data import ClusterData
from kafka_lite.mirror.helix.stages.message_generation import MessageSource
from kafka_lite.mirror.helix.writes import Delete, Write
from kafka_lite.mirror.helix.zn_record import ZNRecord

PATHS = PropertyPaths("by-hand")
RESOURCE = "r"


class _Tree:
    """Znodes: a RecordReader that writes can be applied to."""

    def __init__(self) -> None:
        self.records: dict[str, ZNRecord] = {}

    def children(self, path: str) -> list[str]:
        """The names directly below a path."""
        below = (name[len(path) + 1 :] for name in self.records if name.startswith(f"{path}/"))
        return sorted({name.partition("/")[0] for name in below})

    def get(self, path: str) -> ZNRecord | None:
        """The record at a path."""
        return self.records.get(path)

    def apply(self, write: Write) -> None:
        """One write of the controller or of a participant."""
        if isinstance(write, Delete):
            gone = [path for path in self.records if path == write.path or path.startswith(f"{write.path}/")]
            for path in gone:
                del self.records[path]
        else:
            self.records[write.path] = write.record


class _Replica(StateModel):
    """Does nothing, but can do each transition of its model."""

    def __init__(self, model: StateModelDefinition) -> None:
        super().__init__(model.initial_state)
        self._model = model

    def transitions(self) -> Mapping[Transition, Action]:
        """All of the model."""
        return dict.fromkeys(self._model.transitions, lambda _message: None)


class _Participant:
    """An instance with one session."""

    def __init__(self, tree: _Tree, name: str, session: str, model: StateModelDefinition) -> None:
        self._tree = tree
        self._name = name
        self._session = session
        self._engine = StateMachineEngine()
        self._engine.register(model.name, lambda _resource, _partition: _Replica(model), model.initial_state)

    def carry_out(self) -> None:
        """Read the messages, run their transitions, write the current states, delete the messages."""
        tree, folder = self._tree, PATHS.messages(self._name)
        messages = [Message(tree.records[f"{folder}/{each}"]) for each in tree.children(folder)]
        resources = tree.children(PATHS.current_states(self._name, self._session))
        received = receive_messages(messages, self._engine, self._session, resources, PATHS, 0)
        for write in received.writes:
            tree.apply(write)
        for replica, message in received.transitions:
            self._carry_out(replica, message)

    def _carry_out(self, replica: StateModel, message: Message) -> None:
        result = run_transition(replica, message)
        if result.state == DROPPED:
            self._engine.remove(message.resource, message.partition)
        record = self._tree.get(PATHS.current_state(self._name, self._session, message.resource))
        config = InstanceConfig(self._tree.records[PATHS.instance_config(self._name)])
        current = None if record is None else CurrentState(record)
        for write in writes_after(result, current, config, self._session, PATHS):
            self._tree.apply(write)

    def states(self) -> Mapping[str, str]:
        """The state of each of its replicas."""
        record = self._tree.get(PATHS.current_state(self._name, self._session, RESOURCE))
        return {} if record is None else CurrentState(record).states


class HelixByHand:
    """One resource of a state model, in SEMI_AUTO: each partition has a list of instances, the best one first.

    ::

        cluster = HelixByHand(MASTER_SLAVE, {"0": ["a", "b"], "1": ["b", "a"]})
        cluster.start("a", "b")
        cluster.settle()                 # [["a 0 OFFLINE->SLAVE", …], …]: the messages of each step
        cluster.states()                 # {"0": {"a": "MASTER", "b": "SLAVE"}, …}
        cluster.kill("a")
    """

    def __init__(self, model: StateModelDefinition, preference_lists: Mapping[str, list[str]]) -> None:
        self._model = model
        self._tree = _Tree()
        self._numbers = itertools.count(1)
        self._participants: dict[str, _Participant] = {}
        replicas = len(next(iter(preference_lists.values())))
        ideal = IdealState.automatic(RebalanceMode.SEMI_AUTO, RESOURCE, model.name, preference_lists, replicas=replicas)
        self._tree.records[PATHS.state_model(model.name)] = model.to_record()
        self._tree.records[PATHS.ideal_state(RESOURCE)] = ideal.record

    def start(self, *names: str) -> None:
        """Instances join, or come back with a new session."""
        for name in names:
            session = f"session-{next(self._numbers)}"
            self._tree.records.setdefault(PATHS.instance_config(name), InstanceConfig.joining(name).record)
            self._tree.records[PATHS.live_instance(name)] = LiveInstance.of(name, session, "1@here").record
            self._participants[name] = _Participant(self._tree, name, session, self._model)

    def kill(self, *names: str) -> None:
        """Instances die, as by ``kill -9``: their sessions end, and nothing else is written."""
        for name in names:
            del self._participants[name]
            self._tree.apply(Delete(PATHS.live_instance(name)))

    def step(self) -> list[str]:
        """The controller runs once; then all messages are carried out. Returns them: ``a 0 OFFLINE->SLAVE``."""
        new_id = (f"message-{number}" for number in self._numbers)
        source = MessageSource("controller", "session-0", "byHand", 0, lambda: next(new_id))
        writes = run_pipeline(ClusterEvent.PERIODICAL_REBALANCE, ClusterData.read(self._tree, PATHS), source, PATHS)
        for write in writes:
            self._tree.apply(write)
        sent = [
            Message(write.record) for write in writes if not isinstance(write, Delete) and "/MESSAGES/" in write.path
        ]
        for participant in self._participants.values():
            participant.carry_out()
        return [f"{each.instance} {each.partition} {each.from_state}->{each.to_state}" for each in sent]

    def settle(self) -> list[list[str]]:
        """The messages of all steps, until the controller has none."""
        return list(iter(self.step, []))

    def states(self) -> dict[str, dict[str, str]]:
        """By partition and live instance."""
        found: dict[str, dict[str, str]] = {}
        for name, participant in sorted(self._participants.items()):
            for partition, state in participant.states().items():
                found.setdefault(partition, {})[name] = state
        return dict(sorted(found.items()))

    def instances_in(self, state: str) -> dict[str, list[str]]:
        """The live instances that are in a state, by partition."""
        return {
            partition: [name for name, own in states.items() if own == state]
            for partition, states in self.states().items()
        }
