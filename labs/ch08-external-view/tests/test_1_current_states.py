"""Task 1: which states and messages count."""

import pytest

from kafka_lite.mirror.helix.stages.current_state_computation import compute_current_state


def computed(helix, data):
    return compute_current_state(data, helix.resources(data))


@pytest.mark.points(8, task=1)
def test_states_by_partition(helix):
    """Two instances, two topics"""
    data = helix.data(
        helix.ideal("t", p0="w1", p1="w2"),
        helix.ideal("u", p0="w1"),
        states=[
            ("w1", helix.current("t", p0="ONLINE", p1="OFFLINE")),
            ("w2", helix.current("t", p1="ONLINE")),
            ("w1", helix.current("u", p0="ERROR")),
        ],
    )
    found = dict(computed(helix, data).states)
    expected = {
        ("t", "0"): {"w1": "ONLINE"},
        ("t", "1"): {"w1": "OFFLINE", "w2": "ONLINE"},
        ("u", "0"): {"w1": "ERROR"},
    }
    assert found == expected, f"by resource and partition, then by instance; yours: {found}"


@pytest.mark.points(8, task=1)
def test_other_sessions_and_dead_instances(helix):
    """A worker that came back, and one that is dead"""
    data = helix.data(
        helix.ideal("t", p0="w1"),
        states=[
            ("w1", helix.current("t", session="s0", p0="ONLINE")),
            ("w9", helix.current("t", p0="ONLINE")),
        ],
        messages=[helix.message("t", "0", "w1", session="s0"), helix.message("t", "0", "w9")],
    )
    found = computed(helix, data)
    assert dict(found.states) == {}, f"s0 is an old session, and w9 is dead; yours: {dict(found.states)}"
    assert dict(found.pending) == {}, "a message for an old session, or a dead instance, is not on its way"


@pytest.mark.points(8, task=1)
def test_pending_transitions(helix):
    """Messages that are not deleted so far"""
    wanted, no_op = helix.message("t", "0", "w1"), helix.message("t", "1", "w2").no_op("n", 0, "w2")
    data = helix.data(helix.ideal("t", p0="w1", p1="w2"), messages=[wanted, no_op])
    found = {key: dict(by_instance) for key, by_instance in computed(helix, data).pending.items()}
    assert found == {("t", "0"): {"w1": wanted}}, f"by resource and partition; a NO_OP is no transition; yours: {found}"
    other = helix.message("t", "1", "w1")
    of_another_kind = type(other)(
        type(other.record)("u", {**other.record.simple_fields, "MSG_TYPE": "USER_DEFINE_MSG"})
    )
    data = helix.data(helix.ideal("t", p0="w1", p1="w1"), messages=[wanted, other, of_another_kind])
    found = {key: dict(by_instance) for key, by_instance in computed(helix, data).pending.items()}
    assert found == {("t", "0"): {"w1": wanted}, ("t", "1"): {"w1": other}}, (
        f"w1 has two transitions before it, and a message of another kind about t, which does not count; yours: {found}"
    )


@pytest.mark.points(6, task=1)
def test_unknown_resources(helix):
    """A resource that is none of the controller's"""
    data = helix.data(helix.ideal("t", p0="w1"), states=[("w1", helix.current("x", p0="ONLINE"))])
    found = compute_current_state(data, {name: each for name, each in helix.resources(data).items() if name == "t"})
    assert dict(found.states) == {}, f"x is not among the resources; yours: {dict(found.states)}"
    data = helix.data(helix.ideal("t", p0="w1"), messages=[helix.message("x", "0", "w1")])
    assert dict(computed(helix, data).pending) == {}, "x is not among the resources, so its message does not count"
