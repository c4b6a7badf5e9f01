"""A Helix cluster in memory: znodes, participants and a controller, whose writes happen one at a time in any order."""

import itertools
from collections import Counter, deque
from collections.abc import Callable, Iterable
from random import Random

from kafka_lite.mirror.helix.model.built_in_state_models import BUILT_IN_STATE_MODELS
from kafka_lite.mirror.helix.model.current_state import CurrentState
from kafka_lite.mirror.helix.model.instance_config import InstanceConfig
from kafka_lite.mirror.helix.model.live_instance import LiveInstance
from kafka_lite.mirror.helix.model.message import Message
from kafka_lite.mirror.helix.model.state_model_definition import DROPPED, ERROR, StateModelDefinition, Transition
from kafka_lite.mirror.helix.participant.message_receiver import receive_messages
from kafka_lite.mirror.helix.participant.session import carry_over
from kafka_lite.mirror.helix.participant.state_model import Action, StateMachineEngine, StateModel, StateModelFactory
from kafka_lite.mirror.helix.participant.state_transition_handler import run_transition, writes_after
from kafka_lite.mirror.helix.pipeline import ClusterEvent, run_pipeline
from kafka_lite.mirror.helix.property_paths import PropertyPaths
from kafka_lite.mirror.helix.stages.cluster_data import ClusterData
from kafka_lite.mirror.helix.stages.message_generation import MessageSource
from kafka_lite.mirror.helix.writes import Create, Delete, Put, Write
from kafka_lite.mirror.helix.zn_record import ZNRecord

PATHS = PropertyPaths("C")


class Tree:
    """Znodes in memory: a RecordReader that writes can be applied to."""

    def __init__(self, after_write: Callable[[Write], None] = lambda write: None) -> None:
        self.records: dict[str, ZNRecord] = {}
        self.after_write = after_write

    def children(self, path: str) -> list[str]:
        """The names directly below a path."""
        below = (name[len(path) + 1 :] for name in self.records if name.startswith(path + "/"))
        return sorted({name.partition("/")[0] for name in below})

    def get(self, path: str) -> ZNRecord | None:
        """The record at a path."""
        return self.records.get(path)

    def apply(self, write: Write) -> None:
        """One write of somebody."""
        if isinstance(write, Delete):
            for path in [p for p in self.records if p == write.path or p.startswith(write.path + "/")]:
                del self.records[path]
        else:
            self.records[write.path] = write.record
        self.after_write(write)

    def add(self, path: str, record: ZNRecord) -> None:
        """A write of an administrator."""
        self.apply(Put(path, record))


class AnyTransition(StateModel):
    """A replica that can do each transition of its model, unless its partition is in ``failing``."""

    def __init__(self, model: StateModelDefinition, partition: str, failing: Iterable[str] = ()) -> None:
        super().__init__(model.initial_state)
        self._model, self._partition, self.failing = model, partition, failing

    def transitions(self) -> dict[Transition, Action]:
        """All of the model, and out of ERROR."""
        pairs = (*self._model.transitions, (ERROR, self._model.initial_state))
        return dict.fromkeys(pairs, self._run)

    def _run(self, message: Message) -> None:
        if self._partition in self.failing:
            raise RuntimeError(f"{message.partition} fails")


def _factory(model: StateModelDefinition, failing: Iterable[str]) -> StateModelFactory:
    return lambda _, partition: AnyTransition(model, partition, failing)


class Participant:
    """A participant whose writes wait until they are let through, one by one."""

    def __init__(self, cluster: "Cluster", name: str, session: str, failing: Iterable[str] = ()) -> None:
        self.cluster, self.name, self.session = cluster, name, session
        self.engine = StateMachineEngine()
        for model in BUILT_IN_STATE_MODELS.values():
            self.engine.register(model.name, _factory(model, failing), initial_state=model.initial_state)
        self.writes: deque[Write] = deque()
        self.transitions: deque[tuple[StateModel, Message]] = deque()
        sessions = PATHS.instance(name, "CURRENTSTATES")
        old = {
            old_session: [
                CurrentState(cluster.tree.records[PATHS.current_state(name, old_session, resource)])
                for resource in cluster.tree.children(f"{sessions}/{old_session}")
            ]
            for old_session in cluster.tree.children(sessions)
        }
        self.writes.extend(carry_over(name, session, old, BUILT_IN_STATE_MODELS, PATHS))

    def advance(self, rng: Random) -> bool:
        """Do one thing; False if there is nothing to do."""
        if self.writes:
            self.cluster.tree.apply(self.writes.popleft())
        elif self.transitions and rng.random() < 0.7:
            self._run_next()
        else:
            return self._receive() or (bool(self.transitions) and self._run_next())
        return True

    def _receive(self) -> bool:
        tree = self.cluster.tree
        messages = [
            Message(tree.records[f"{PATHS.messages(self.name)}/{m}"]) for m in tree.children(PATHS.messages(self.name))
        ]
        resources = tree.children(PATHS.current_states(self.name, self.session))
        received = receive_messages(messages, self.engine, self.session, resources, PATHS, next(self.cluster.clock))
        self.writes.extend(received.writes)
        self.transitions.extend(received.transitions)
        return bool(received.writes)

    def _run_next(self) -> bool:
        replica, message = self.transitions.popleft()
        result = run_transition(replica, message)
        if result.state == DROPPED:
            self.engine.remove(message.resource, message.partition)
        record = self.cluster.tree.get(PATHS.current_state(self.name, self.session, message.resource))
        config = InstanceConfig(self.cluster.tree.records[PATHS.instance_config(self.name)])
        current = None if record is None else CurrentState(record)
        self.writes.extend(writes_after(result, current, config, self.session, PATHS))
        return True


class Cluster:
    """A controller and participants. Every write is checked: bounds hold, and transitions follow the model."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.tree = Tree(self._check)
        self.clock = itertools.count(1)
        self.participants: dict[str, Participant] = {}
        self.bounds: dict[str, tuple[StateModelDefinition, int]] = {}
        self._last: dict[tuple[str, str, str], str] = {}
        for model in BUILT_IN_STATE_MODELS.values():
            self.tree.add(PATHS.state_model(model.name), model.to_record())

    # --------------------------------------------------------------------------------------------------- participants

    def start(self, name: str, failing: Iterable[str] = ()) -> None:
        """A participant joins, or comes back with a new session."""
        if self.tree.get(PATHS.instance_config(name)) is None:
            self.tree.add(PATHS.instance_config(name), InstanceConfig.joining(name).record)
        session = f"s{next(self.clock)}"
        self.participants[name] = Participant(self, name, session, failing)
        self.tree.add(PATHS.live_instance(name), LiveInstance.of(name, session, "1@here").record)

    def kill(self, name: str) -> None:
        """A participant dies, with all that it had not written so far."""
        del self.participants[name]
        self.tree.apply(Delete(PATHS.live_instance(name)))

    def enable(self, name: str, enabled: bool) -> None:
        """An administrator enables or disables an instance."""
        path = PATHS.instance_config(name)
        self.tree.add(path, self.tree.records[path].with_simple(HELIX_ENABLED=str(enabled).lower()))

    def advance(self, steps: int) -> bool:
        """Let participants do up to so many things; False if nobody had anything to do."""
        busy = False
        for _ in range(steps):
            some = list(self.participants.values())
            self.rng.shuffle(some)
            busy = any(participant.advance(self.rng) for participant in some) or busy
        return busy

    # ----------------------------------------------------------------------------------------------------- controller

    def run_controller(
        self, event: ClusterEvent = ClusterEvent.PERIODICAL_REBALANCE, *, interleaved: bool = True
    ) -> list[Write]:
        """A run of the pipeline. Participants go on while it reads, and between its writes."""
        data = ClusterData.read(_Interleaved(self) if interleaved else self.tree, PATHS)
        new_id = (f"m{number}" for number in self.clock)
        source = MessageSource("controller", "c1", event.value, next(self.clock), lambda: next(new_id))
        writes = run_pipeline(event, data, source, PATHS)
        for write in writes:
            self.tree.apply(write)
            if interleaved:
                self.advance(self.rng.randrange(2))
        return writes

    def settle(self) -> None:
        """Until nobody has anything to do any more."""
        for _ in range(200):
            while self.advance(1):
                pass
            if not self.run_controller(interleaved=False):
                return
        raise AssertionError(f"the cluster does not settle: {self.states()}")

    def states(self) -> dict[str, dict[str, dict[str, str]]]:
        """By resource, partition and live instance: what the current states say."""
        result: dict[str, dict[str, dict[str, str]]] = {}
        for name, participant in self.participants.items():
            for resource in self.tree.children(PATHS.current_states(name, participant.session)):
                record = self.tree.records[PATHS.current_state(name, participant.session, resource)]
                for partition, state in CurrentState(record).states.items():
                    result.setdefault(resource, {}).setdefault(partition, {})[name] = state
        return result

    # --------------------------------------------------------------------------------------------------------- checks

    def _check(self, write: Write) -> None:
        if isinstance(write, Create) and "/MESSAGES/" in write.path:
            message = Message(write.record)
            model = BUILT_IN_STATE_MODELS[message.state_model]
            assert model.next_state(message.from_state, message.to_state) == message.to_state, message
        if "/CURRENTSTATES/" in write.path or "/LIVEINSTANCES/" in write.path:
            self._check_bounds()
            self._check_changes()

    def _check_bounds(self) -> None:
        """Of what is written, and of what the participants do."""
        counts: Counter[tuple[str, str, str]] = Counter()
        for resource, partitions in self.states().items():
            for partition, states in partitions.items():
                counts.update((resource, partition, state) for state in states.values())
        doing = Counter(
            (resource, partition, replica.current_state)
            for participant in self.participants.values()
            for resource, partition, replica in participant.engine
        )
        for (resource, partition, state), count in [*counts.items(), *doing.items()]:
            model, replicas = self.bounds[resource]
            bound = model.upper_bound(state, replicas=replicas, live_instances=len(self.participants))
            assert bound is None or count <= bound, (resource, partition, state, self.states())

    def _check_changes(self) -> None:
        now = {
            (f"{name} {self.participants[name].session}", resource, partition): state
            for resource, partitions in self.states().items()
            for partition, states in partitions.items()
            for name, state in states.items()
        }
        for key, state in now.items():
            before = self._last.get(key)
            model = self.bounds[key[1]][0]
            if before not in (None, state) and ERROR not in (before, state):
                assert (before, state) in model.transitions, (key, before, state)
        self._last = now


class _Interleaved:
    """Reads from a cluster that goes on meanwhile."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def children(self, path: str) -> list[str]:
        """See Tree."""
        self._cluster.advance(self._cluster.rng.choice((0, 0, 1, 2, 6)))
        return self._cluster.tree.children(path)

    def get(self, path: str) -> ZNRecord | None:
        """See Tree."""
        self._cluster.advance(self._cluster.rng.randrange(2))
        return self._cluster.tree.get(path)
