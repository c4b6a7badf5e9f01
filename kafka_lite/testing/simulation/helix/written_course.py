"""Judges a Helix cluster by all that was ever written to its ZooKeeper: the transactions of its log, in their order.

Not in Kafka. After each transaction the states of live instances are within the bounds of their state model, and a
replica changes its state by a transition of the model only. The log may be one of a real ZooKeeper.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from kafka_lite.mirror.helix.model.ideal_state import IdealState
from kafka_lite.mirror.helix.model.live_instance import LiveInstance
from kafka_lite.mirror.helix.model.state_model_definition import ERROR, StateModelDefinition
from kafka_lite.mirror.helix.property_paths import PropertyPaths
from kafka_lite.mirror.helix.zn_record import ZNRecord
from kafka_lite.testing.history.checker import Violation
from kafka_lite.zookeeper.embedded.txn_log import TxnLog
from kafka_lite.zookeeper.embedded.txns import (
    CloseSessionTxn,
    CreateTxn,
    DeleteTxn,
    MultiTxn,
    SetDataTxn,
    Txn,
    TxnHeader,
)

BOUND_BROKEN, NO_TRANSITION = "more replicas in a state than its bound", "no transition of the state model"
Owner = tuple[str, str]
"""An instance and its session."""


def judge_log(folder: Path, cluster: str) -> list[Violation]:
    """Judge the log of a ZooKeeper that has ended; ``folder`` is its ``dataDir``, and it has deleted no log."""
    return list(judge(TxnLog(folder / "version-2").read(0), PropertyPaths(cluster)))


def judge(transactions: Iterable[tuple[TxnHeader, Txn]], paths: PropertyPaths) -> Iterator[Violation]:
    """The violations of a course, each when it begins."""
    course = WrittenCourse(paths)
    for header, txn in transactions:
        parts = [part for _, part in txn.txns] if isinstance(txn, MultiTxn) else [txn]
        for part in parts:
            yield from course.take(header.client_id, part)
        yield from course.broken_bounds(f"{header.zxid:#x}")


class WrittenCourse:
    """The znodes of a cluster that matter for its bounds, as they are after each transaction."""

    def __init__(self, paths: PropertyPaths) -> None:
        self._paths = paths
        self._models: dict[str, StateModelDefinition] = {}
        self._ideal_states: dict[str, IdealState] = {}
        self._sessions: dict[str, Owner] = {}
        """Of each live instance: itself, and the session of its record."""
        self._ephemeral: dict[str, int] = {}
        """From a znode to the ZooKeeper session that it ends with."""
        self._states: dict[str, dict[Owner, tuple[str, dict[str, str]]]] = defaultdict(dict)
        """Of each resource: the state model and the partitions of each owner."""
        self._broken: set[tuple[str, str, str]] = set()

    def take(self, client_id: int, txn: Txn) -> Iterator[Violation]:
        """Apply one change. Yields transitions that the model does not have."""
        if isinstance(txn, CreateTxn | SetDataTxn):
            if isinstance(txn, CreateTxn) and txn.ephemeral:
                self._ephemeral[txn.path] = client_id
            if (record := ZNRecord.from_bytes(txn.data or b"")) is not None:
                yield from self._written(txn.path, record)
        elif isinstance(txn, DeleteTxn):
            self._deleted(txn.path)
        elif isinstance(txn, CloseSessionTxn):
            for path in [path for path, session in self._ephemeral.items() if session == client_id]:
                self._deleted(path)

    def _written(self, path: str, record: ZNRecord) -> Iterator[Violation]:
        parent, _, name = path.rpartition("/")
        if parent == self._paths.state_models:
            self._models[name] = StateModelDefinition.from_record(record)
        elif parent == self._paths.ideal_states:
            self._ideal_states[name] = IdealState(record)
        elif parent == self._paths.live_instances:
            self._sessions[name] = name, LiveInstance(record).session
        elif (owner := self._owner(parent)) is not None:
            states = {partition: fields["CURRENT_STATE"] for partition, fields in record.map_fields.items()}
            model = record.simple_fields["STATE_MODEL_DEF"]
            before = self._states[name].get(owner, (model, {}))[1]
            self._states[name][owner] = model, states
            yield from self._wrong_transitions(f"{name} of {owner[0]}", self._models[model], before, states)

    def _owner(self, path: str) -> Owner | None:
        """The owner of the current states below a path; None if they are none."""
        below = path.removeprefix(self._paths.instances + "/").split("/")
        is_one = path.startswith(self._paths.instances) and len(below) == 3 and below[1] == "CURRENTSTATES"
        return (below[0], below[2]) if is_one else None

    def _deleted(self, path: str) -> None:
        self._ephemeral.pop(path, None)
        parent, _, name = path.rpartition("/")
        if parent == self._paths.ideal_states:
            self._ideal_states.pop(name, None)
        elif parent == self._paths.live_instances:
            self._sessions.pop(name, None)
        elif (owner := self._owner(parent)) is not None:
            self._states[name].pop(owner, None)

    def _wrong_transitions(
        self, what: str, model: StateModelDefinition, before: dict[str, str], after: dict[str, str]
    ) -> Iterator[Violation]:
        for partition, state in after.items():
            old = before.get(partition, model.initial_state)
            if old != state and ERROR not in (old, state) and (old, state) not in model.transitions:
                yield Violation(NO_TRANSITION, f"{what}, partition {partition}: {old} to {state}")

    def broken_bounds(self, when: str) -> Iterator[Violation]:
        """The bounds that are broken now and were not broken before."""
        broken: set[tuple[str, str, str]] = set()
        live = set(self._sessions.values())
        for resource, by_owner in self._states.items():
            counts: Counter[tuple[str, str, str]] = Counter()
            for owner, (model, states) in by_owner.items():
                if owner in live:
                    counts.update((model, partition, state) for partition, state in states.items())
            for (model, partition, state), count in counts.items():
                bound = self._bound(resource, self._models[model], state)
                if bound is not None and count > bound:
                    broken.add((resource, partition, state))
        for resource, partition, state in sorted(broken - self._broken):
            yield Violation(BOUND_BROKEN, f"{resource}, partition {partition}: {state}, after transaction {when}")
        self._broken = broken

    def _bound(self, resource: str, model: StateModelDefinition, state: str) -> int | None:
        live, ideal_state = len(self._sessions), self._ideal_states.get(resource)
        replicas = None if ideal_state is None else ideal_state.replicas(live)
        return model.upper_bound(state, replicas=replicas, live_instances=live)
