"""Replicas are counted where they are, and where a message brings them."""

import pytest

from kafka_lite.mirror.helix.stages.message_selection import count_states


@pytest.mark.points(8, task=1)
def test_an_instance_without_a_state_has_the_initial_one(helix):
    """An instance without a state has the initial one"""
    counts = count_states(helix.model, ["w1", "w2", "w3"], {"w1": "MASTER", "w2": "SLAVE"}, [])
    assert counts == {"MASTER": 1, "SLAVE": 1, "OFFLINE": 1}, "w3 lives and has no state: it is OFFLINE"


@pytest.mark.points(8, task=1)
def test_instances_that_do_not_live_do_not_count(helix):
    """Instances that do not live do not count"""
    assert count_states(helix.model, ["w1"], {"w1": "SLAVE", "dead": "MASTER"}, []) == {"SLAVE": 1}, "dead is dead"


@pytest.mark.points(9, task=1)
def test_a_pending_message_counts_for_both_of_its_states(helix):
    """A pending message counts for both of its states"""
    counts = count_states(helix.model, ["w1"], {"w1": "SLAVE"}, [helix.message("w1: MASTER -> SLAVE")])
    assert counts["MASTER"] == 1, "the message of w1 is pending: w1 may still be MASTER"
    assert counts["SLAVE"] == 2, "where w1 is, and where the message brings it"
    both = [helix.message(f"w{number}: SLAVE -> MASTER") for number in (1, 2)]
    assert count_states(helix.model, [], {}, both) == {"SLAVE": 2, "MASTER": 2}, "each message counts"
