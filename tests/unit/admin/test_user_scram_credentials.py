"""Credentials of users, with Kafka's errors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from kafka_lite.admin.user_scram_credentials import MAX_READ_USERS, Deletion, Upsertion, alter, described
from kafka_lite.common.errors import ApiError
from kafka_lite.security.scram.scram_credential import ScramCredential
from kafka_lite.security.scram.scram_formatter import ScramFormatter
from kafka_lite.security.scram.scram_mechanism import ScramMechanism
from tests.support.config_store import ConfigStore

SHA_256, SHA_512 = ScramMechanism
SALTED = ScramFormatter(SHA_256).salted_password("secret", b"salt", 4096)
GOOD = Upsertion("alice", 1, 4096, b"salt", SALTED)


@pytest.fixture
def store() -> Any:
    return cast(Any, ConfigStore())


def errors(results: dict[str, ApiError | None]) -> dict[str, tuple[str, str] | None]:
    return {user: None if error is None else (error.error.name, str(error)) for user, error in results.items()}


def test_a_credential_is_stored_as_the_password_itself_would_make_it(store: Any) -> None:
    store.set_entity_config("users/alice", {"producer_byte_rate": "7"})
    assert alter(store, [], [GOOD]) == {"alice": None}
    config = store.nodes["users/alice"]
    expected = ScramFormatter(SHA_256).credential("secret", b"salt", 4096)
    assert ScramCredential.from_string(config["SCRAM-SHA-256"]) == expected
    assert config["producer_byte_rate"] == "7"
    assert store.changes == ["users/alice"]
    assert described(store, None) == described(store, ["alice"]) == {"alice": {SHA_256: 4096}}


def test_names_of_users_are_sanitised(store: Any) -> None:
    alter(store, [], [replace(GOOD, user="CN=a/b")])
    assert list(store.nodes) == ["users/CN%3Da%2Fb"]
    assert list(described(store, None)) == ["CN=a/b"]


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (replace(GOOD, user=""), ("UNACCEPTABLE_CREDENTIAL", "Username must not be empty")),
        (replace(GOOD, mechanism=3), ("UNSUPPORTED_SASL_MECHANISM", "Unknown SCRAM mechanism")),
        (replace(GOOD, iterations=4095), ("UNACCEPTABLE_CREDENTIAL", "Too few iterations")),
        (replace(GOOD, iterations=16385), ("UNACCEPTABLE_CREDENTIAL", "Too many iterations")),
    ],
)
def test_what_cannot_be_set_is_refused_with_all_changes_of_its_user(
    store: Any, change: Upsertion, error: tuple[str, str]
) -> None:
    results = alter(store, [], [change, replace(change, mechanism=2, iterations=4096), replace(GOOD, user="bob")])
    assert errors(results) == {change.user: error, "bob": None}
    assert list(store.nodes) == ["users/bob"]


def test_deletions(store: Any) -> None:
    alter(store, [], [GOOD, replace(GOOD, mechanism=2)])
    gone = ("RESOURCE_NOT_FOUND", "Attempt to delete a user credential that does not exist")
    assert errors(alter(store, [Deletion("alice", 1), Deletion("bob", 1)], [])) == {"alice": None, "bob": gone}
    assert described(store, None) == {"alice": {SHA_512: 4096}}
    assert errors(alter(store, [Deletion("", 1), Deletion("alice", 0)], [])) == {
        "": ("UNACCEPTABLE_CREDENTIAL", "Username must not be empty"),
        "alice": ("UNSUPPORTED_SASL_MECHANISM", "Unknown SCRAM mechanism"),
    }


def test_a_credential_is_changed_once_per_request(store: Any) -> None:
    twice = ("DUPLICATE_RESOURCE", "A user credential cannot be altered twice in the same request")
    assert errors(alter(store, [Deletion("alice", 1)], [GOOD])) == {"alice": twice}
    assert store.nodes == {}


def test_descriptions_of_users_that_have_none_or_are_named_twice(store: Any) -> None:
    store.set_entity_config("users/broken", {"SCRAM-SHA-256": "salt=x"})
    store.set_entity_config("users/quota", {"producer_byte_rate": "7"})
    store.set_entity_config("users/<default>", {"producer_byte_rate": "7"})
    found = described(store, ["quota", "", "twice", "twice", "broken"])
    assert {user: error.error.name for user, error in found.items() if isinstance(error, ApiError)} == {
        "quota": "RESOURCE_NOT_FOUND",
        "": "RESOURCE_NOT_FOUND",
        "twice": "DUPLICATE_RESOURCE",
        "broken": "UNKNOWN_SERVER_ERROR",
    }
    assert list(described(store, None)) == ["broken"]


def test_what_goes_wrong_in_the_store_is_no_success(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise OSError("lost")

    monkeypatch.setattr(store, "set_entity_config", fails)
    (error,) = errors(alter(store, [], [GOOD])).values()
    assert error is not None
    assert error[0] == "UNKNOWN_SERVER_ERROR"


def test_of_many_users_only_those_that_exist_are_read(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    alter(store, [], [GOOD, replace(GOOD, user="CN=bob")])
    reads: list[str] = []
    read = store.get_entity_config
    monkeypatch.setattr(store, "get_entity_config", lambda path: (reads.append(path), read(path))[1])
    unknown = [f"n{number}" for number in range(MAX_READ_USERS)]
    found = described(store, [*unknown, "CN=bob"])
    assert found["CN=bob"] == {SHA_256: 4096}
    assert {error.error.name for error in found.values() if isinstance(error, ApiError)} == {"RESOURCE_NOT_FOUND"}
    assert reads == ["users/CN%3Dbob"]
    changed = alter(store, [Deletion(user, 1) for user in [*unknown, "alice"]], [replace(GOOD, user="new")])
    assert {user for user, error in changed.items() if error is None} == {"alice", "new"}
    assert "users/n0" not in store.nodes
    assert reads[1:] == ["users/alice"]


def test_few_users_are_read_without_listing_all(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "get_entities", None)
    alter(store, [], [GOOD])
    assert described(store, ["alice", *(f"n{number}" for number in range(MAX_READ_USERS - 1))])["alice"] == {
        SHA_256: 4096
    }
