"""Administration of groups: list, describe and delete them."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import Errors
from tests.support.groups import GROUP, Groups


@pytest.fixture
def groups() -> Groups:
    return Groups()


def test_groups_are_listed_by_state_and_type(groups: Groups) -> None:
    groups.stable(group_id="stable")
    groups.commit(1, group_id="offsets only")
    groups.member(group_id="rebalancing").join()

    def listed(states: list[str], types: list[str]) -> set[tuple[str, str, str]]:
        response = groups.admin.handle_list_groups(states, types)
        assert response.error_code == 0
        return {(g.group_id, g.protocol_type, g.group_state) for g in response.groups}

    stable, simple = ("stable", "consumer", "Stable"), ("offsets only", "", "Empty")
    rebalancing = ("rebalancing", "consumer", "CompletingRebalance")
    assert listed([], []) == {stable, simple, rebalancing}
    assert listed(["STABLE", "empty"], []) == {stable, simple}
    assert listed(["Unheard of"], []) == set()
    assert listed([], ["Classic"]) == {stable, simple, rebalancing}
    assert listed([], ["share"]) == set()


def test_a_group_is_described_with_its_members(groups: Groups) -> None:
    assert groups.admin.handle_describe_group(GROUP).group_state == "Dead"
    (member,) = groups.stable(instance_id="name")
    described = groups.admin.handle_describe_group(GROUP)
    assert (described.group_state, described.protocol_type, described.protocol_data) == ("Stable", "consumer", "range")
    (found,) = described.members
    assert (found.member_id, found.group_instance_id, found.client_id) == (member.member_id, "name", "client")
    assert (found.client_host, found.member_metadata) == ("/127.0.0.1", member.protocols[0][1])
    assert found.member_assignment == member.member_id.encode()
    groups.member().join()
    described = groups.admin.handle_describe_group(GROUP)
    assert (described.group_state, described.protocol_data) == ("PreparingRebalance", "")
    assert {m.member_metadata for m in described.members} == {b""}


def test_only_groups_without_members_are_deleted(groups: Groups) -> None:
    (member,) = groups.stable()
    member.commit(7)
    assert groups.admin.handle_delete_groups([GROUP, "nobody"]) == {
        GROUP: Errors.NON_EMPTY_GROUP,
        "nobody": Errors.GROUP_ID_NOT_FOUND,
    }
    member.leave()
    assert groups.admin.handle_delete_groups([GROUP]) == {GROUP: Errors.NONE}
    assert groups.state() is None
    assert groups.restart().manager.current_groups == []
