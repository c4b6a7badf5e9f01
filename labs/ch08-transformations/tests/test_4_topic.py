"""Task 4: another topic."""

import pytest


@pytest.mark.points(8, task=4)
def test_a_topic_that_matches(router, without_schema):
    """Groups, and a pattern that matches often"""
    found = router("raw-(.*)", "clean-$1").apply(without_schema).topic
    assert found == "clean-towns", f"raw-towns becomes clean-towns, not {found}"
    found = router(".*", "all").apply(without_schema).topic
    assert found == "all", f"the first match is replaced once: all, not {found}"


@pytest.mark.points(7, task=4)
def test_a_topic_that_does_not_match(router, without_schema):
    """Only a part matches"""
    record = router("raw", "clean").apply(without_schema)
    assert record.topic == "raw-towns", f"the whole topic has to match, and raw is a part of raw-towns: {record.topic}"
    assert record is without_schema, "nothing changes: return the record itself"
