"""A link to a run of the live cluster: read by the page and by a terminal."""

from __future__ import annotations

import pytest

from kafka_learn.live.commands import Command
from kafka_learn.live.link import Link

MACHINES = ["broker-0", "broker-1", "broker-2", "zookeeper", "clients"]


def test_an_address_or_its_query_has_seed_actions_and_end() -> None:
    query = "?seed=7&actions=2.5:kill:1,6:produce:10:all&until=20.5"
    for link in (query, f"https://example.org/zh/live/{query}#top"):
        assert Link.of(link) == Link(7, "2.5:kill:1,6:produce:10:all", 20.5)
    actions = Link.of(query).actions_on(MACHINES)
    assert [action.command for action in actions] == [Command("kill", ("1",)), Command("produce", ("10", "all"))]
    assert Link.of(query).end_s(actions) == 20.5


def test_what_a_browser_escapes_is_read_as_well() -> None:
    assert Link.of("?seed=1&actions=2.5%3Akill%3A1%2C6%3Astart%3A1").actions == "2.5:kill:1,6:start:1"


def test_without_an_end_a_run_continues_for_a_while_after_its_last_action() -> None:
    link = Link.of("?actions=2.5:kill:1,6:start:1")
    assert link.seed == 1
    assert link.end_s(link.actions_on(MACHINES)) == 36.0
    assert Link.of("").end_s([]) == 30.0


@pytest.mark.parametrize("link", ["?seed=one", "?until=soon"])
def test_what_is_no_number_is_refused(link: str) -> None:
    with pytest.raises(ValueError, match=r"one|soon"):
        Link.of(link)


def test_an_older_link_with_a_version_of_python_is_read_as_well() -> None:
    assert Link.of("?seed=2&python=3.13") == Link(2)


def test_damaged_actions_are_refused() -> None:
    with pytest.raises(ValueError, match="no broker"):
        Link.of("?actions=2.5:kill:9").actions_on(MACHINES)
