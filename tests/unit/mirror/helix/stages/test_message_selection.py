"""Which messages are sent at once: within the bounds of states, and within the constraints of the cluster."""

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.mirror.helix.helix_errors import HelixError
from kafka_lite.mirror.helix.model.built_in_state_models import MASTER_SLAVE, ONLINE_OFFLINE
from kafka_lite.mirror.helix.model.cluster_constraints import message_constraints
from kafka_lite.mirror.helix.model.current_state import CurrentState
from kafka_lite.mirror.helix.model.ideal_state import IdealState
from kafka_lite.mirror.helix.model.live_instance import LiveInstance
from kafka_lite.mirror.helix.model.message import Message
from kafka_lite.mirror.helix.reset import reset_partition
from kafka_lite.mirror.helix.stages.cluster_data import ClusterData
from kafka_lite.mirror.helix.stages.current_state_computation import compute_current_state
from kafka_lite.mirror.helix.stages.external_view import compute_external_views
from kafka_lite.mirror.helix.stages.message_selection import count_states, within_bounds
from kafka_lite.mirror.helix.stages.message_throttle import throttle_messages
from kafka_lite.mirror.helix.stages.resource_computation import compute_resources
from kafka_lite.mirror.helix.zn_record import ZNRecord
from tests.support.helix_cluster import PATHS

BOUNDS = {"MASTER": 1, "SLAVE": 2}


def message(start, to, instance="w1", resource="t", partition="0", session="s"):
    return Message.transition(
        f"{instance}-{partition}-{start}",
        1,
        source=("c", "c1"),
        target=(instance, session),
        resource=resource,
        partition=partition,
        from_state=start,
        to_state=to,
        state_model="MasterSlave",
    )


def selected(states, pending, messages):
    counts = count_states(MASTER_SLAVE, sorted({*states, "w1", "w2", "w3"}), states, pending)
    return [f"{m.instance} {m.to_state}" for m in within_bounds(MASTER_SLAVE, BOUNDS, counts, messages)]


def test_a_slave_waits_while_the_old_master_still_is_one():
    down, up = message("MASTER", "SLAVE", "w1"), message("SLAVE", "MASTER", "w2")
    both = {"w1": "MASTER", "w2": "SLAVE"}
    assert selected(both, [], [up, down]) == ["w1 SLAVE"]
    assert selected(both, [down], [up]) == []
    assert selected({"w1": "SLAVE", "w2": "SLAVE"}, [down], [up]) == []  # its message is not deleted so far
    assert selected({"w1": "SLAVE", "w2": "SLAVE"}, [], [up]) == ["w2 MASTER"]


def test_the_most_urgent_transition_takes_the_room():
    states = {"w1": "SLAVE", "w2": "MASTER", "w3": "OFFLINE"}
    assert selected(states, [], [message("OFFLINE", "SLAVE", "w3"), message("MASTER", "SLAVE", "w2")]) == ["w2 SLAVE"]


def test_a_state_without_a_bound_takes_all():
    states = {"w1": "SLAVE", "w2": "SLAVE"}
    leaving = [message("SLAVE", "OFFLINE", "w1"), message("SLAVE", "OFFLINE", "w2")]
    assert selected(states, [], leaving) == ["w1 OFFLINE", "w2 OFFLINE"]


STATES = st.dictionaries(st.sampled_from(["w1", "w2", "w3", "w4"]), st.sampled_from(["MASTER", "SLAVE", "OFFLINE"]))


@given(STATES, st.data())
def test_whatever_subset_of_the_selected_messages_is_done_no_bound_is_exceeded(states, data):
    steps = {"MASTER": ["SLAVE"], "SLAVE": ["MASTER", "OFFLINE"], "OFFLINE": ["SLAVE", "DROPPED"]}
    wanted = {name: data.draw(st.sampled_from(steps[state])) for name, state in states.items()}
    messages = [message(states[name], to, name) for name, to in wanted.items()]
    counts = count_states(MASTER_SLAVE, states, states, [])
    chosen = within_bounds(MASTER_SLAVE, BOUNDS, counts, messages)
    done = data.draw(st.sets(st.sampled_from(chosen or [None]).map(lambda m: m and m.instance)))
    after = [wanted[name] if name in done else state for name, state in states.items()]
    for state, bound in BOUNDS.items():
        assert after.count(state) <= max(bound, list(states.values()).count(state))


# ----------------------------------------------------------------------------------------------------------- throttling


def allowed(constraints, messages, pending=()):
    items = message_constraints(ZNRecord("MESSAGE_CONSTRAINT", map_fields=constraints))
    data = ClusterData(constraints=items, messages={"w": list(pending)})
    return [m.instance + m.partition for m in throttle_messages(data, {("t", "0"): messages})["t", "0"]]


def offline_to_slave(*names):
    return [message("OFFLINE", "SLAVE", name[:2], partition=name[2:]) for name in names]


PER_INSTANCE = {"MESSAGE_TYPE": "STATE_TRANSITION", "INSTANCE": ".*", "CONSTRAINT_VALUE": "1"}


def test_a_constraint_counts_for_each_instance_that_it_matches():
    messages = offline_to_slave("w10", "w11", "w20")
    assert allowed({"a": PER_INSTANCE}, messages) == ["w10", "w20"]
    assert allowed({"a": PER_INSTANCE}, messages, pending=offline_to_slave("w19")) == ["w20"]
    assert allowed({}, messages) == ["w10", "w11", "w20"]


@pytest.mark.parametrize(
    ("other", "names"),
    [
        ({"MESSAGE_TYPE": "STATE_TRANSITION", "INSTANCE": "w1", "CONSTRAINT_VALUE": "2"}, ["w10", "w11", "w20"]),
        ({"MESSAGE_TYPE": ".*", "INSTANCE": ".*", "CONSTRAINT_VALUE": "0"}, ["w10", "w20"]),
        ({"TRANSITION": "OFFLINE-.*", "CONSTRAINT_VALUE": "1"}, ["w10"]),
        ({"TRANSITION": "MASTER-.*", "CONSTRAINT_VALUE": "0"}, ["w10", "w20"]),
        ({"RESOURCE": "t", "CONSTRAINT_VALUE": "ANY"}, ["w10", "w20"]),
        ({"RESOURCE": "(", "CONSTRAINT_VALUE": "0"}, ["w10", "w20"]),
        ({"RESOURCE": "t", "CONSTRAINT_VALUE": "few"}, ["w10", "w20"]),
        ({"CONSTRAINT_VALUE": "0"}, ["w10", "w20"]),
    ],
)
def test_the_more_specific_constraint_holds_and_what_is_no_constraint_is_ignored(other, names):
    assert allowed({"a": PER_INSTANCE, "b": other}, offline_to_slave("w10", "w11", "w20")) == names


# ------------------------------------------------------------------------------------ resources, states, views, reset


def data_of(states, messages=(), ideal=None, session="s"):
    current = CurrentState.empty("t", session, "OnlineOffline")
    for partition, state in states.items():
        current = current.with_state(partition, state)
    return ClusterData(
        ideal_states={} if ideal is None else {"t": ideal},
        live_instances={"w1": LiveInstance.of("w1", "s", "1@here")},
        state_models={"OnlineOffline": ONLINE_OFFLINE},
        messages={"w1": list(messages)},
        current_states={"w1": {"t": current}},
        external_views={"gone": ZNRecord("gone"), "t": ZNRecord("t", {"REPLICAS": "1"})},
    )


IDEAL = IdealState.customized("t", "OnlineOffline", {"1": {"w1": "ONLINE"}})


def test_a_resource_has_the_partitions_of_its_ideal_state_and_those_that_are_still_there():
    assert compute_resources(data_of({"0": "ONLINE"}, ideal=IDEAL))["t"].partitions == ("0", "1")
    assert compute_resources(data_of({"0": "ONLINE"}))["t"].partitions == ("0",)
    assert compute_resources(data_of({})) == {}


def test_a_resource_without_its_state_model_is_left_alone(caplog):
    with caplog.at_level(logging.WARNING):
        foreign = IdealState.customized("t", "NoSuchModel", {"0": {"w1": "ONLINE"}})
        assert compute_resources(data_of({"0": "ONLINE"}, ideal=foreign)) == {}
    assert "the state model NoSuchModel of the resource t is not in the cluster" in caplog.text


def test_states_and_messages_of_another_session_do_not_count():
    old = [message("OFFLINE", "ONLINE", session="older")]
    data = data_of({"0": "ONLINE"}, [*old, Message.no_op("n", 1, "w1")], ideal=IDEAL, session="older")
    current = compute_current_state(data, compute_resources(data))
    assert (current.states, current.pending) == ({}, {})


def test_a_dropped_resource_keeps_the_fields_of_its_last_view_and_a_gone_one_loses_its_view():
    data = data_of({"0": "ONLINE"})
    resources = compute_resources(data)
    put, deleted = compute_external_views(data, resources, compute_current_state(data, resources), PATHS)
    assert put.record == ZNRecord("t", {"BUCKET_SIZE": "0", "REPLICAS": "1"}, {}, {"0": {"w1": "ONLINE"}})
    assert deleted.path == PATHS.external_view("gone")


def reset(data, instance="w1", partition="1"):
    return reset_partition(data, PATHS, instance, "t", partition, message_id="m", now_ms=5, admin="here-ADMIN")


def test_a_reset_asks_for_the_way_from_error_to_the_initial_state():
    made = Message(reset(data_of({"1": "ERROR"}, ideal=IDEAL)).record)
    assert (made.from_state, made.to_state, made.session, made.partition) == ("ERROR", "OFFLINE", "s", "1")


@pytest.mark.parametrize(
    ("data", "where", "reason"),
    [
        (data_of({"1": "ERROR"}, ideal=IDEAL), {"instance": "w9"}, "not alive"),
        (data_of({"1": "ERROR"}), {}, "no such partition"),
        (data_of({"7": "ERROR"}, ideal=IDEAL), {"partition": "7"}, "no such partition"),
        (data_of({"1": "ONLINE"}, ideal=IDEAL), {}, "not in ERROR, but ONLINE"),
        (data_of({}, ideal=IDEAL), {}, "in no state"),
        (data_of({"1": "ERROR"}, [message("ERROR", "OFFLINE", partition="1")], ideal=IDEAL), {}, "is pending"),
    ],
)
def test_what_cannot_be_reset_is_said(data, where, reason):
    with pytest.raises(HelixError, match=reason):
        reset(data, **where)
