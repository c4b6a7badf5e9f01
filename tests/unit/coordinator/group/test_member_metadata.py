"""A member of a group as its coordinator sees it: its protocols, its parked requests, its session."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.member_metadata import MemberMetadata, join_error, sync_error
from kafka_lite.protocol.messages.api_11_join_group import JoinGroupResponse
from kafka_lite.protocol.messages.api_14_sync_group import SyncGroupResponse

PROTOCOLS = [("sticky", b"s"), ("range", b"r")]


@pytest.fixture
def member() -> MemberMetadata:
    return MemberMetadata("me", None, "client", "/10.0.0.1", 60_000, 10_000, "consumer", PROTOCOLS)


def test_the_metadata_is_that_of_the_protocol(member: MemberMetadata) -> None:
    assert member.protocols == ["sticky", "range"]
    assert (member.metadata("sticky"), member.metadata("range")) == (b"s", b"r")
    with pytest.raises(ValueError, match="me does not support protocol roundrobin"):
        member.metadata("roundrobin")


def test_a_member_votes_for_what_it_prefers(member: MemberMetadata) -> None:
    assert member.vote({"range", "sticky"}) == "sticky"
    assert member.vote({"range", "roundrobin"}) == "range"
    with pytest.raises(ValueError, match="any of the candidate protocols"):
        member.vote({"roundrobin"})


def test_a_member_matches_the_protocols_that_it_joined_with(member: MemberMetadata) -> None:
    assert member.matches(PROTOCOLS)
    assert member.matches(tuple(PROTOCOLS))
    assert not member.matches(list(reversed(PROTOCOLS))), "it prefers another one now"
    assert not member.matches([("sticky", b"s"), ("range", b"other topics")])


def test_only_a_member_with_an_instance_id_is_static(member: MemberMetadata) -> None:
    assert not member.is_static_member
    static = MemberMetadata("me", "one", "client", "/10.0.0.1", 60_000, 10_000, "consumer", PROTOCOLS)
    assert static.is_static_member
    assert repr(static) == "MemberMetadata(me, one, client, /10.0.0.1)"
    assert repr(member) == "MemberMetadata(me, client, /10.0.0.1)"


@pytest.mark.parametrize("parked", ["awaiting_join_callback", "awaiting_sync_callback"])
def test_the_session_does_not_time_out_while_a_request_is_parked(member: MemberMetadata, parked: str) -> None:
    assert not member.has_satisfied_heartbeat
    setattr(member, parked, lambda _response: None)
    assert member.is_awaiting_join is (parked == "awaiting_join_callback")
    assert member.is_awaiting_sync is (parked == "awaiting_sync_callback")
    assert member.has_satisfied_heartbeat


def test_a_new_member_times_out_even_while_its_join_is_parked(member: MemberMetadata) -> None:
    member.is_new = True
    member.awaiting_join_callback = lambda _response: None
    assert not member.has_satisfied_heartbeat
    member.heartbeat_satisfied = True
    assert member.has_satisfied_heartbeat


@pytest.mark.parametrize("version", range(10))
def test_refusals_fit_into_every_version(version: int) -> None:
    refused = join_error("me", Errors.INCONSISTENT_GROUP_PROTOCOL)
    if version < 7:
        refused.protocol_name = ""
    told = JoinGroupResponse.decode(refused.encode(version), version)
    assert (told.error_code, told.generation_id, told.member_id) == (23, -1, "me")
    if version <= 5:
        refused_sync = sync_error(Errors.UNKNOWN_MEMBER_ID)
        assert SyncGroupResponse.decode(refused_sync.encode(version), version).error_code == 25
