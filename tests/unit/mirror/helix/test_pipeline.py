"""Whole clusters: bounds hold at every write, every plan is reached, and the writes are a real Helix's."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_lite.mirror.helix.model.built_in_state_models import (
    BUILT_IN_STATE_MODELS,
    LEADER_STANDBY,
    MASTER_SLAVE,
    ONLINE_OFFLINE,
)
from kafka_lite.mirror.helix.model.ideal_state import IdealState, RebalanceMode
from kafka_lite.mirror.helix.model.state_model_definition import StateModelDefinition
from kafka_lite.mirror.helix.pipeline import EVENTS_WITH_EXTERNAL_VIEW, ClusterEvent, run_pipeline
from kafka_lite.mirror.helix.stages.cluster_data import ClusterData
from kafka_lite.mirror.helix.stages.message_generation import MessageSource
from kafka_lite.mirror.helix.writes import Create, Delete, Put
from tests.support.examples import examples
from tests.support.helix_cluster import PATHS, Cluster, Tree
from tests.support.helix_samples import writes

INSTANCES = ("w1", "w2", "w3", "w4")


class Course:
    """A cluster with one resource, in which anything happens."""

    def __init__(self, rng: Random, model: StateModelDefinition, mode: RebalanceMode) -> None:
        self.rng, self.model, self.mode = rng, model, mode
        self.cluster = Cluster(rng)
        self.instances = INSTANCES[: rng.randint(1, 4)]
        self.partitions = [str(number) for number in range(rng.randint(1, 3))]
        self.replicas = rng.randint(1, len(self.instances))
        self.plan: dict[str, list[str]] = {}
        self.cluster.bounds["t"] = (model, self.replicas)
        for name in self.instances:
            self.cluster.start(name)
        self.change_plan()

    def change_plan(self) -> None:
        """Other instances for some partitions."""
        for partition in self.partitions:
            if partition not in self.plan or self.rng.random() < 0.5:
                self.plan[partition] = self.rng.sample(self.instances, self.replicas)
        if self.mode is RebalanceMode.CUSTOMIZED:
            ideal = IdealState.customized("t", self.model.name, self.wanted(), replicas=self.replicas)
        else:
            lists = self.plan if self.mode is RebalanceMode.SEMI_AUTO else dict.fromkeys(self.plan, ())
            ideal = IdealState.automatic(self.mode, "t", self.model.name, lists, replicas=self.replicas)
        self.cluster.tree.add(PATHS.ideal_state("t"), ideal.record)

    def wanted(self) -> dict[str, dict[str, str]]:
        """The states of the plan: the first instance of a partition gets the top state."""
        counts = self.model.replica_counts(replicas=self.replicas, live_instances=len(self.instances))
        states = [state for state, count in counts.items() for _ in range(count)]
        return {partition: dict(zip(names, states, strict=True)) for partition, names in self.plan.items()}

    def happen(self) -> None:
        """One event, and then some time."""
        name = self.rng.choice(self.instances)
        event = self.rng.randrange(8)
        if event == 0 and name in self.cluster.participants:
            self.cluster.kill(name)
        elif event == 1 and name not in self.cluster.participants:
            self.cluster.start(name)
        elif event == 2:
            self.cluster.enable(name, self.rng.random() < 0.6)
        elif event in (3, 4, 5):
            self.change_plan()
        self.cluster.advance(self.rng.randrange(6))
        self.cluster.run_controller()

    def end_in_peace(self) -> None:
        """All live and are enabled, and nothing happens any more."""
        for name in self.instances:
            if name not in self.cluster.participants:
                self.cluster.start(name)
            self.cluster.enable(name, True)
        self.cluster.settle()


@settings(max_examples=examples(60), deadline=None)
@given(
    st.integers(0, 2**32),
    st.sampled_from([ONLINE_OFFLINE, MASTER_SLAVE, LEADER_STANDBY]),
    st.sampled_from(RebalanceMode),
)
def test_bounds_hold_at_every_write_and_every_plan_is_reached(seed, model, mode):
    course = Course(Random(seed), model, mode)
    for _ in range(12):
        course.happen()
    course.end_in_peace()

    reached = course.cluster.states()["t"]
    view = course.cluster.tree.records[PATHS.external_view("t")]
    assert view.map_fields == reached
    if mode is RebalanceMode.FULL_AUTO:
        states = [sorted(states) for states in (found.values() for found in reached.values())]
        assert states == [sorted(wanted.values()) for wanted in course.wanted().values()]
    else:
        assert reached == course.wanted()


def test_a_dropped_resource_leaves_nothing():
    cluster = Cluster(Random(1))
    cluster.bounds["t"] = (MASTER_SLAVE, 2)
    cluster.start("w1")
    cluster.start("w2")
    ideal = IdealState.automatic(RebalanceMode.SEMI_AUTO, "t", "MasterSlave", {"0": ["w1", "w2"]}, replicas=2)
    cluster.tree.add(PATHS.ideal_state("t"), ideal.record)
    cluster.settle()
    assert cluster.states() == {"t": {"0": {"w1": "MASTER", "w2": "SLAVE"}}}

    cluster.tree.apply(Delete(PATHS.ideal_state("t")))
    cluster.settle()
    assert cluster.states() == {}
    assert not cluster.tree.children(PATHS.external_views)
    assert not any("/MESSAGES/" in path or path.endswith("/t") for path in cluster.tree.records)


def test_a_failed_transition_stays_in_error_and_nobody_sends_anything():
    cluster = Cluster(Random(1))
    cluster.bounds["e"] = (ONLINE_OFFLINE, 1)
    cluster.start("w3", failing={"7"})
    ideal = IdealState.customized("e", "OnlineOffline", {"7": {"w3": "ONLINE"}, "8": {"w3": "ONLINE"}})
    cluster.tree.add(PATHS.ideal_state("e"), ideal.record)
    cluster.settle()
    assert cluster.states() == {"e": {"7": {"w3": "ERROR"}, "8": {"w3": "ONLINE"}}}
    assert cluster.tree.records[PATHS.external_view("e")].map_fields == cluster.states()["e"]


# ------------------------------------------------------------------------------------------------------- events


def source(event=ClusterEvent.IDEAL_STATE_CHANGE):
    ids = iter(f"m{number}" for number in range(100))
    return MessageSource("controller1", "1a21f5a7d790002", event.value, 7, lambda: next(ids))


def tree_of(ideal):
    cluster = Cluster(Random(0))
    cluster.start("w1")
    cluster.tree.add(PATHS.ideal_state("t"), ideal.record)
    return cluster.tree


IDEAL = IdealState.customized("t", "OnlineOffline", {"0": {"w1": "ONLINE"}})


@pytest.mark.parametrize("event", ClusterEvent)
def test_which_events_make_an_external_view(event):
    data = ClusterData.read(tree_of(IDEAL), PATHS)
    made = run_pipeline(event, data, source(event), PATHS)
    assert [type(write) for write in made] == [Create, Put] if event in EVENTS_WITH_EXTERNAL_VIEW else [Create]
    assert made[0].record.simple_fields["ClusterEventName"] == event.value


def test_a_paused_cluster_gets_nothing():
    data = ClusterData.read(tree_of(IDEAL), PATHS)
    assert run_pipeline(ClusterEvent.RESUME, data, source(), PATHS, paused=True) == []


# ------------------------------------------------------------------------------------- the course of a real Helix 0.6.9

STEPS = [
    "participants w1, w2 start",
    "resource t, 4 partitions CUSTOMIZED",
    "partition 4 added",
    "partition 4 moved to w2",
    "w2 killed",
    "its partitions given to w1",
]


def helix_tree(steps, until=lambda kind, path, record: False):
    """The znodes after these steps, or right before the first write of the last one for which ``until`` holds."""
    tree = Tree()
    for model in BUILT_IN_STATE_MODELS.values():
        tree.add(PATHS.state_model(model.name), model.to_record())
    for step in steps:
        if step == "w2 killed":
            tree.apply(Delete(PATHS.live_instance("w2")))
        for kind, path, record in writes(step):
            if step == steps[-1] and until(kind, path, record):
                return tree
            tree.apply(Delete(path) if kind == "delete" else Put(path, record) if record is not None else Delete(path))
    return tree


def sent(step, path_part="/MESSAGES/"):
    """What the controller of the sample created in a step, without ids and times."""
    for kind, path, record in writes(step):
        if kind == "create" and path_part in path and record is not None and "ClusterEventName" in record.simple_fields:
            yield path.rpartition("/")[0], comparable(record)


def comparable(record):
    return {name: value for name, value in record.simple_fields.items() if name not in ("MSG_ID", "CREATE_TIMESTAMP")}


def is_message(kind, path, _record):
    return kind == "create" and "/MESSAGES/" in path


@pytest.mark.parametrize("number", [2, 3, 4, 6])
def test_the_first_messages_of_a_step_are_a_real_controllers(number):
    steps = STEPS[:number]
    data = ClusterData.read(helix_tree(steps, is_message), PATHS)
    made = run_pipeline(ClusterEvent.IDEAL_STATE_CHANGE, data, source(), PATHS)
    expected = [entry for entry in sent(steps[-1]) if entry[1]["ClusterEventName"] == "idealStateChange"]
    assert [(write.path.rpartition("/")[0], comparable(write.record)) for write in made] == expected


def test_a_move_goes_on_with_both_instances_at_once_as_the_real_one_does():
    def second_batch(kind, path, record):
        return is_message(kind, path, record) and record.simple_fields["ClusterEventName"] == "currentStateChange"

    event = ClusterEvent.CURRENT_STATE_CHANGE
    data = ClusterData.read(helix_tree(STEPS[:4], second_batch), PATHS)
    made = run_pipeline(event, data, source(event), PATHS)
    expected = [entry for entry in sent("partition 4 moved to w2") if entry[1]["ClusterEventName"] == event.value]
    messages = [write for write in made if isinstance(write, Create)]
    assert [(write.path.rpartition("/")[0], comparable(write.record)) for write in messages] == expected


@pytest.mark.parametrize("number", [2, 3, 4, 5, 6])
def test_the_external_view_at_the_end_of_a_step_is_a_real_controllers(number):
    steps = STEPS[:number]
    tree = helix_tree(steps)
    written = tree.records.pop(PATHS.external_view("t"))
    event = ClusterEvent.LIVE_INSTANCE_CHANGE
    assert run_pipeline(event, ClusterData.read(tree, PATHS), source(event), PATHS) == [
        Put(PATHS.external_view("t"), written)
    ]
    tree.add(PATHS.external_view("t"), written)
    assert run_pipeline(event, ClusterData.read(tree, PATHS), source(event), PATHS) == []
