"""The states that the preference list 1, 2, 3 gives to instances."""

import pytest

from kafka_lite.mirror.helix.rebalancer.semi_auto_rebalancer import semi_automatic_states


@pytest.mark.parametrize(
    ("states", "live", "disabled", "wanted", "why"),
    [
        ({}, "123", "", {"1": "MASTER", "2": "SLAVE", "3": "SLAVE"}, "the first of the list leads"),
        ({}, "23", "", {"2": "MASTER", "3": "SLAVE"}, "1 does not live"),
        ({"1": "MASTER"}, "123", "1", {"1": "OFFLINE", "2": "SLAVE", "3": "SLAVE"}, "1 is disabled, and 2 far away"),
        ({"1": "ERROR"}, "123", "", {"2": "MASTER", "3": "SLAVE"}, "1 is in error"),
        ({"3": "SLAVE", "2": "MASTER"}, "123", "", {"1": "SLAVE", "2": "MASTER", "3": "SLAVE"}, "2 leads: 1 is far"),
        ({"1": "SLAVE", "2": "MASTER"}, "123", "", {"1": "MASTER", "2": "SLAVE", "3": "SLAVE"}, "1 is near"),
        ({"9": "MASTER"}, "1239", "", {"1": "SLAVE", "2": "SLAVE", "3": "SLAVE", "9": "DROPPED"}, "all are far"),
        ({"9": "SLAVE"}, "1239", "9", {"1": "MASTER", "2": "SLAVE", "3": "SLAVE", "9": "DROPPED"}, "9 is off the list"),
    ],
)  # fmt: skip
@pytest.mark.points(2, task=3)
def test_a_list_becomes_states(helix, states, live, disabled, wanted, why):
    """A preference list becomes states"""
    assert semi_automatic_states(helix.replicas(states, live, disabled), ["1", "2", "3"]) == wanted, why


@pytest.mark.points(7, task=3)
def test_a_partition_that_is_gone_is_dropped(helix):
    """A partition that is gone is dropped"""
    assert semi_automatic_states(helix.replicas({"1": "MASTER"}), None) == {"1": "DROPPED"}, "there is no list"


@pytest.mark.points(7, task=3)
def test_without_the_rule_the_first_leads_at_once(helix):
    """Without the rule the first leads at once"""
    states = semi_automatic_states(helix.replicas({"2": "MASTER"}), ["1", "2"], keep_top_state=False)
    assert states == {"1": "MASTER", "2": "SLAVE"}, "keep_top_state is off"
