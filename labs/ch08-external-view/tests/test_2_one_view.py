"""Task 2: the view of one resource."""

import pytest

from kafka_lite.mirror.helix.stages.current_state_computation import CurrentStateOutput
from kafka_lite.mirror.helix.stages.external_view import external_view
from kafka_lite.mirror.helix.zn_record import ZNRecord


def view(helix, data, states):
    return external_view(data, helix.resources(data)["t"], CurrentStateOutput(states))


@pytest.mark.points(10, task=2)
def test_states_of_all_instances(helix):
    """Two instances have the partition"""
    data = helix.data(helix.ideal("t", p0="w1", p1="w2"))
    found = view(helix, data, {("t", "0"): {"w2": "OFFLINE", "w1": "ONLINE"}, ("u", "0"): {"w1": "ONLINE"}})
    assert found.id == "t", f"a view has the name of its resource; yours: {found.id}"
    maps = {partition: dict(states) for partition, states in found.map_fields.items()}
    assert maps == {"0": {"w1": "ONLINE", "w2": "OFFLINE"}}, (
        f"all states of partition 0; partition 1 has no replica, so it is left out; yours: {maps}"
    )
    assert list(maps["0"]) == ["w1", "w2"], "Helix sorts the keys of a new record"
    states = {("t", number): {"w1": "ONLINE"} for number in ("0", "1")}
    found = view(helix, data, states)
    assert set(found.map_fields) == {"0", "1"}, f"both partitions have a replica now; yours: {set(found.map_fields)}"


@pytest.mark.points(8, task=2)
def test_fields_of_the_ideal_state(helix):
    """Simple fields"""
    data = helix.data(helix.ideal("t", p0="w1"))
    found = dict(view(helix, data, {}).simple_fields)
    expected = {"BUCKET_SIZE": "0", **data.ideal_states["t"].record.simple_fields}
    assert found == expected, f"BUCKET_SIZE 0, and the fields of the ideal state; yours: {found}"
    assert list(found) == sorted(found), "the keys of a new record are sorted"


@pytest.mark.points(7, task=2)
def test_a_dropped_resource(helix):
    """The ideal state is gone, a replica is still there"""
    last = ZNRecord("t", {"BUCKET_SIZE": "0", "NUM_PARTITIONS": "1"}, {}, {"0": {"w1": "ONLINE"}})
    data = helix.data(states=[("w1", helix.current("t", p0="OFFLINE"))], views=[last])
    found = view(helix, data, {("t", "0"): {"w1": "OFFLINE"}})
    assert dict(found.simple_fields) == dict(last.simple_fields), (
        f"without an ideal state the fields are those of the last view; yours: {dict(found.simple_fields)}"
    )
    data = helix.data(states=[("w1", helix.current("t", p0="OFFLINE"))])
    fields = dict(view(helix, data, {}).simple_fields)
    assert fields == {"BUCKET_SIZE": "0"}, f"without both there is only BUCKET_SIZE; yours: {fields}"
