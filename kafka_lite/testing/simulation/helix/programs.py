"""Programs that run inside a world: controllers and participants of Helix, and the administrator of their cluster.

Not in Kafka. Like ``kafka_lite.testing.simulation.programs``, a world loads this module once per process.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from kafka_lite.testing.simulation.helix.facts import CLUSTER, Plan

if TYPE_CHECKING:
    from kafka_lite.mirror.helix.manager.zk_helix_admin import ZKHelixAdmin
    from kafka_lite.mirror.helix.manager.zk_helix_data_accessor import ZKHelixDataAccessor
    from kafka_lite.mirror.helix.model.ideal_state import IdealState
    from kafka_lite.mirror.helix.model.state_model_definition import StateModelDefinition
    from kafka_lite.mirror.helix.participant.state_model import StateModel
    from kafka_lite.testing.history.history import History
    from kafka_lite.testing.simulation.helix.facts import Facts

SESSION_TIMEOUT_MS: Final = 4_000
PATIENT_MS: Final = 600_000
LOOKS_S: Final = 0.2
CHANGES_S: Final = 4.0
"""How often the administrator changes something, on average."""
MOST_RESOURCES: Final = 3


def controller(connect: str, name: str, history: History) -> None:
    """Stand for election, and lead the cluster if elected, until the history is over."""
    from kafka_lite.mirror.helix.manager.generic_helix_controller import GenericHelixController

    accessor = _session(connect)
    member = GenericHelixController(accessor, name)
    member.start()
    _await_end(history)
    member.shutdown()
    accessor.zk.close()


def participant(connect: str, name: str, slowest_s: float, history: History) -> None:
    """Obey messages until the history is over. Each transition takes up to ``slowest_s``."""
    from kafka_lite.mirror.helix.manager.participant_manager import ParticipantManager
    from kafka_lite.mirror.helix.model.built_in_state_models import BUILT_IN_STATE_MODELS
    from kafka_lite.mirror.helix.participant.state_model import StateMachineEngine

    engine = StateMachineEngine()
    for model in BUILT_IN_STATE_MODELS.values():
        engine.register(model.name, _slow_replicas(model, slowest_s), model.initial_state)
    accessor = _session(connect)
    member = ParticipantManager(accessor, name, engine)
    member.start()
    _await_end(history)
    member.shutdown()
    accessor.zk.close()


def _session(connect: str) -> ZKHelixDataAccessor:
    from kafka_lite.mirror.helix.manager.zk_helix_data_accessor import ZKHelixDataAccessor
    from kafka_lite.mirror.helix.property_paths import PropertyPaths
    from kafka_lite.zookeeper.zookeeper_client import ZooKeeperClient

    zk = ZooKeeperClient(connect, SESSION_TIMEOUT_MS, PATIENT_MS)
    zk.connect()
    return ZKHelixDataAccessor(zk, PropertyPaths(CLUSTER))


def _await_end(history: History) -> None:
    while not history.is_over:
        time.sleep(LOOKS_S)


def _slow_replicas(model: StateModelDefinition, slowest_s: float) -> Callable[[str, str], StateModel]:
    from kafka_lite.mirror.helix.participant.state_model import StateModel

    class Slow(StateModel):
        """A replica whose transitions take time."""

        def transitions(self) -> dict[tuple[str, str], Callable[[Any], None]]:
            return dict.fromkeys(model.transitions, lambda _message: time.sleep(random.random() * slowest_s))

    return lambda _resource, _partition: Slow(model.initial_state)


# ── the administrator ─────────────────────────────────────────────────────────────────────────────────────────────────


def administrator(connect: str, name: str, participants: Sequence[str], facts: Facts, history: History) -> None:
    """Set the cluster up, change it until nothing more is to go wrong, make the last plans, and watch the views."""
    from kafka_lite.mirror.helix.manager.zk_helix_admin import ZKHelixAdmin
    from kafka_lite.mirror.helix.model.built_in_state_models import BUILT_IN_STATE_MODELS

    accessor = _session(connect)
    admin = ZKHelixAdmin(accessor, name)
    admin.add_cluster(BUILT_IN_STATE_MODELS.values())
    facts.is_set_up = True
    drawing = Drawing(admin, participants, facts)
    for _ in range(random.randint(1, MOST_RESOURCES)):
        drawing.add_resource()
    while not history.is_sending_over:
        time.sleep(random.expovariate(1 / CHANGES_S))
        drawing.change()
    drawing.let_all_work()
    while not history.is_over:
        facts.views = _views(accessor)
        facts.is_planned = True
        time.sleep(LOOKS_S)
    accessor.zk.close()


def _views(accessor: ZKHelixDataAccessor) -> dict[str, dict[str, dict[str, str]]]:
    records = accessor.child_records(accessor.paths.external_views)
    return {name: {key: dict(states) for key, states in each.map_fields.items()} for name, each in records.items()}


class Drawing:
    """The acts of an administrator, drawn from the seed."""

    def __init__(self, admin: ZKHelixAdmin, participants: Sequence[str], facts: Facts) -> None:
        self._admin = admin
        self._participants = participants
        self._facts = facts
        self._added = 0

    def add_resource(self) -> None:
        """Add a resource under a name that was never used: R of one that is dropped bounds nothing."""
        from kafka_lite.mirror.helix.model.built_in_state_models import BUILT_IN_STATE_MODELS

        self._added += 1
        model = random.choice(list(BUILT_IN_STATE_MODELS.values()))
        second = next((state for state, bound in model.bounds.items() if bound == "R"), model.top_state)
        mode = random.choice(("CUSTOMIZED", "SEMI_AUTO", "SEMI_AUTO", "FULL_AUTO"))
        replicas = 1 if mode == "CUSTOMIZED" else random.randint(1, min(3, len(self._participants)))
        partitions: dict[str, list[str]] = {str(number): [] for number in range(random.randint(1, 4))}
        self._put(f"resource-{self._added}", Plan(mode, model.name, model.top_state, second, replicas, partitions))

    def _put(self, resource: str, plan: Plan) -> None:
        """Make this the plan, with lists that are drawn for it."""
        if plan.mode != "FULL_AUTO":
            lists = {partition: random.sample(self._participants, plan.replicas) for partition in plan.lists}
            plan = plan._replace(lists=lists)
        self._facts.plans[resource] = plan
        self._admin.add_resource(ideal_state(resource, plan))

    def change(self) -> None:
        """Move, drop or add a resource, disable or enable an instance, pause or resume the cluster."""
        self._facts.changes += 1
        chance, resources = random.random(), sorted(self._facts.plans)
        if chance < 0.5 and resources:
            resource = random.choice(resources)
            self._put(resource, self._facts.plans[resource])
        elif chance < 0.6 and resources:
            resource = random.choice(resources)
            del self._facts.plans[resource]
            self._admin.drop_resource(resource)
        elif chance < 0.7 and len(resources) < MOST_RESOURCES:
            self.add_resource()
        elif chance < 0.9:
            self._enable(random.choice(self._participants), enabled=random.random() < 0.5)
        elif random.random() < 0.5:
            self._admin.pause()
        else:
            self._admin.resume()

    def _enable(self, name: str, *, enabled: bool) -> None:
        """Enable an instance, or disable it. One that has not joined yet is not known."""
        from kafka_lite.mirror.helix.helix_errors import HelixError

        try:
            self._admin.enable_instance(name, enabled=enabled)
        except HelixError:
            return

    def let_all_work(self) -> None:
        """Enable all instances, as soon as they are known, and resume."""
        from kafka_lite.mirror.helix.helix_errors import HelixError

        for name in self._participants:
            while True:
                try:
                    self._admin.enable_instance(name, enabled=True)
                    break
                except HelixError:
                    time.sleep(LOOKS_S)
        self._admin.resume()


def ideal_state(resource: str, plan: Plan) -> IdealState:
    """The record that says so."""
    from kafka_lite.mirror.helix.model.ideal_state import IdealState, RebalanceMode

    mode = RebalanceMode[plan.mode]
    if mode is RebalanceMode.CUSTOMIZED:
        states = {partition: {instances[0]: plan.top_state} for partition, instances in plan.lists.items()}
        return IdealState.customized(resource, plan.state_model, states, replicas=plan.replicas)
    return IdealState.automatic(mode, resource, plan.state_model, plan.lists, replicas=plan.replicas)
