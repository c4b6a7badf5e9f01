"""Task 1: an entry and a request."""

import pytest

from kafka_lite.security.authorizer.acl_binding import AccessControlEntry, AclOperation, AclPermissionType

READ, WRITE = AclOperation.READ, AclOperation.WRITE


@pytest.mark.points(7, task=1)
def test_all_three_parts_count(entry):
    """alice may READ from 10.0.0.1"""
    of_alice = entry("alice may READ", host="10.0.0.1")
    assert of_alice.concerns("User:alice", "10.0.0.1", READ), "user, host and operation are the entry's"
    assert not of_alice.concerns("User:bob", "10.0.0.1", READ), "it is about another user"
    assert not of_alice.concerns("User:alice", "10.0.0.2", READ), "it is about another host"
    assert not of_alice.concerns("User:alice", "10.0.0.1", WRITE), "it is about another operation"


@pytest.mark.points(8, task=1)
def test_each_part_has_a_word_for_all(entry):
    """User:*, the host *, the operation ALL"""
    assert entry("* may READ").concerns("User:ANONYMOUS", "10.0.0.1", READ), "User:* is everyone, ANONYMOUS too"
    assert entry("* may READ").concerns("Role:x", "10.0.0.1", READ), "User:* is everyone, of whatever type"
    assert entry("alice may READ").concerns("User:alice", "::1", READ), "the host * is every host"
    assert entry("alice may ALL").concerns("User:alice", "10.0.0.1", WRITE), "ALL is every operation"
    denial = AccessControlEntry("User:alice", "*", READ, AclPermissionType.DENY)
    assert denial.concerns("User:alice", "10.0.0.1", READ), "a denial is about a request as a permission is"
    assert not entry("alice may READ").concerns("User:*", "h", READ), (
        "the words for all are the entry's, not the request's"
    )
