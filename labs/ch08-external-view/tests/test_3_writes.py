"""Task 3: which views are written."""

import pytest

from kafka_lite.mirror.helix.stages.current_state_computation import CurrentStateOutput
from kafka_lite.mirror.helix.stages.external_view import compute_external_views, external_view
from kafka_lite.mirror.helix.writes import Delete, Put
from kafka_lite.mirror.helix.zn_record import ZNRecord


def writes(helix, data, states):
    found = compute_external_views(data, helix.resources(data), CurrentStateOutput(states), helix.paths)
    return [(type(each).__name__, each.path) for each in found], found


@pytest.mark.points(8, task=3)
def test_only_what_has_changed(helix):
    """Two topics, one has changed"""
    ideals = (helix.ideal("t", p0="w1"), helix.ideal("u", p0="w1"))
    states = {("t", "0"): {"w1": "ONLINE"}, ("u", "0"): {"w1": "ONLINE"}}
    before = helix.data(*ideals)
    known = external_view(before, helix.resources(before)["t"], CurrentStateOutput(states))
    told, found = writes(helix, helix.data(*ideals, views=[known]), states)
    assert told == [("Put", "/ur/EXTERNALVIEW/u")], f"t's view is as before, and each write wakes spectators; {told}"
    assert isinstance(found[0], Put)
    assert dict(found[0].record.map_fields["0"]) == {"w1": "ONLINE"}, "the Put has the view as its record"


@pytest.mark.points(6, task=3)
def test_a_new_topic(helix):
    """No view so far"""
    told, _ = writes(helix, helix.data(helix.ideal("t", p0="w1")), {})
    assert told == [("Put", "/ur/EXTERNALVIEW/t")], f"a view without partitions is written, too; yours: {told}"


@pytest.mark.points(6, task=3)
def test_views_of_nothing(helix):
    """Topics that are gone"""
    told, found = writes(helix, helix.data(views=[ZNRecord("gone")]), {})
    assert told == [("Delete", "/ur/EXTERNALVIEW/gone")], f"its view goes, too; yours: {told}"
    assert isinstance(found[0], Delete)
    told, _ = writes(helix, helix.data(views=[ZNRecord("a"), ZNRecord("b")]), {})
    assert sorted(told) == [("Delete", "/ur/EXTERNALVIEW/a"), ("Delete", "/ur/EXTERNALVIEW/b")], (
        f"a and b are gone, and so are the views of both; yours: {told}"
    )
