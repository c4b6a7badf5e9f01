"""Tokens are created, renewed and expired; the times are those of Kafka."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from kafka_lite.common.config_def import Password
from kafka_lite.common.errors import ApiError, Errors, KafkaError
from kafka_lite.common.security.kafka_principal import KafkaPrincipal
from kafka_lite.common.time import MockTime
from kafka_lite.security.delegation_token.delegation_token_cache import DelegationTokenCache
from kafka_lite.security.delegation_token.token_information import TokenInformation, create_hmac
from kafka_lite.server.admin.delegation_token_manager import DelegationTokenConfig, DelegationTokenManager

ALICE, BOB, CAROL = (KafkaPrincipal("User", name) for name in ("alice", "bob", "carol"))
START_MS, DAY_MS = 1_000_000, 1_000
CONFIG = DelegationTokenConfig(b"key", max_lifetime_ms=7 * DAY_MS, expiry_time_ms=DAY_MS, expiry_check_interval_ms=1)


class Store:
    """The nodes as a dictionary."""

    def __init__(self) -> None:
        self.tokens: dict[str, TokenInformation] = {}
        self.announced: list[str] = []
        self.unreadable: set[str] = set()

    def token_ids(self) -> Iterable[str]:
        return [*self.tokens, *self.unreadable]

    def read(self, token_id: str) -> TokenInformation | None:
        if token_id in self.unreadable:
            raise KafkaError("not JSON")
        return self.tokens.get(token_id)

    def write(self, token: TokenInformation) -> None:
        self.tokens[token.token_id] = token

    def delete(self, token_id: str) -> None:
        self.tokens.pop(token_id, None)

    def announce(self, token_id: str) -> None:
        self.announced.append(token_id)


class Given:
    def __init__(self, config: DelegationTokenConfig = CONFIG) -> None:
        self.store, self.cache, self.time = Store(), DelegationTokenCache(), MockTime(start_ms=START_MS)
        self.manager = DelegationTokenManager(config, self.store, self.cache, self.time)

    def create(self, max_lifetime_ms: int = -1, renewers: tuple[KafkaPrincipal, ...] = (BOB,)) -> Any:
        return self.manager.create_token(ALICE, ALICE, renewers, max_lifetime_ms)


@pytest.fixture
def given() -> Given:
    return Given()


def error_of(call: Callable[[], object]) -> Errors:
    with pytest.raises(ApiError) as raised:
        call()
    return raised.value.error


@pytest.mark.parametrize(
    ("asked_ms", "max_ms", "expiry_ms"),
    [
        (-1, 7 * DAY_MS, DAY_MS),
        (0, 7 * DAY_MS, DAY_MS),
        (8 * DAY_MS, 7 * DAY_MS, DAY_MS),
        (2 * DAY_MS, 2 * DAY_MS, DAY_MS),
        (DAY_MS // 2, DAY_MS // 2, DAY_MS // 2),
    ],
)
def test_the_life_of_a_token_has_two_limits(given: Given, asked_ms: int, max_ms: int, expiry_ms: int) -> None:
    token = given.create(asked_ms)
    info = token.token_info
    times = (info.issue_timestamp, info.max_timestamp, info.expiry_timestamp)
    assert times == (START_MS, START_MS + max_ms, START_MS + expiry_ms)
    assert token.hmac == create_hmac(info.token_id, b"key")
    assert (info.owner, info.token_requester, info.renewers) == (ALICE, ALICE, (BOB,))
    assert given.store.tokens == {info.token_id: info}
    assert given.store.announced == [info.token_id]
    assert given.manager.tokens() == [token]


def test_ids_are_of_22_characters_and_never_the_same(given: Given) -> None:
    ids = {given.create().token_info.token_id for _ in range(50)}
    assert (len(ids), {len(each) for each in ids}) == (50, {22})


def test_times_beyond_those_of_a_response_are_cut() -> None:
    forever = Given(DelegationTokenConfig(b"key", 2**63 - 1, 2**63 - 1, 1)).create().token_info
    assert (forever.max_timestamp, forever.expiry_timestamp) == (2**63 - 1, 2**63 - 1)


@pytest.mark.parametrize(
    ("asked_ms", "expiry_ms"), [(-1, DAY_MS), (5, 5), (0, 0), (100 * DAY_MS, None), (2**63 - 1, None)]
)
def test_renewing_moves_the_expiry_up_to_the_maximum(given: Given, asked_ms: int, expiry_ms: int | None) -> None:
    token = given.create()
    given.time.sleep(DAY_MS)
    expected = START_MS + (7 * DAY_MS if expiry_ms is None else DAY_MS + expiry_ms)
    for user in (ALICE, BOB):
        assert given.manager.renew_token(user, token.hmac, asked_ms) == expected
    (found,) = given.manager.tokens()
    assert found.token_info.expiry_timestamp == expected
    assert given.store.tokens[found.token_info.token_id] == found.token_info
    assert len(given.store.announced) == 3


def test_expiring_moves_the_expiry_or_deletes_the_token(given: Given) -> None:
    token = given.create()
    assert given.manager.expire_token(BOB, token.hmac, 5) == START_MS + 5
    assert given.manager.expire_token(ALICE, token.hmac, 100 * DAY_MS) == START_MS + 7 * DAY_MS
    assert given.manager.expire_token(ALICE, token.hmac, -1) == START_MS
    assert (given.manager.tokens(), given.store.tokens) == ([], {})
    assert error_of(lambda: given.manager.expire_token(ALICE, token.hmac, -1)) is Errors.DELEGATION_TOKEN_NOT_FOUND


def test_an_expired_token_is_renewed_by_nobody_and_can_still_be_ended(given: Given) -> None:
    token = given.create()
    given.time.sleep(DAY_MS + 1)
    expired = Errors.DELEGATION_TOKEN_EXPIRED
    assert error_of(lambda: given.manager.renew_token(ALICE, token.hmac, -1)) is expired
    assert error_of(lambda: given.manager.expire_token(ALICE, token.hmac, 7)) is expired
    assert given.manager.expire_token(ALICE, token.hmac, -1) == START_MS + DAY_MS + 1


def test_only_owner_and_renewers_change_a_token(given: Given) -> None:
    token = given.manager.create_token(ALICE, CAROL, (BOB,), -1)
    for change in (given.manager.renew_token, given.manager.expire_token):
        for user in (CAROL, KafkaPrincipal("Group", "alice")):
            assert error_of(lambda c=change, u=user: c(u, token.hmac, -1)) is Errors.DELEGATION_TOKEN_OWNER_MISMATCH  # type: ignore[misc]
        assert error_of(lambda c=change: c(ALICE, b"no", -1)) is Errors.DELEGATION_TOKEN_NOT_FOUND  # type: ignore[misc]


def test_the_controller_deletes_what_has_expired(given: Given) -> None:
    short, long = given.create(5), given.create()
    given.time.sleep(5)
    given.manager.expire_tokens()
    assert len(given.manager.tokens()) == 2
    given.time.sleep(1)
    given.manager.expire_tokens()
    assert given.manager.tokens() == [long]
    assert given.store.announced[-1] == short.token_info.token_id


def test_without_a_key_there_are_no_tokens() -> None:
    off = Given(DelegationTokenConfig(b"", 1, 1, 1))
    for call in (
        off.create,
        off.manager.tokens,
        lambda: off.manager.renew_token(ALICE, b"x", -1),
        lambda: off.manager.expire_token(ALICE, b"x", -1),
    ):
        assert error_of(call) is Errors.DELEGATION_TOKEN_AUTH_DISABLED
    assert not off.manager.enabled


def test_another_broker_follows_the_store(given: Given) -> None:
    token = given.create()
    token_id = token.token_info.token_id
    other = DelegationTokenManager(CONFIG, given.store, DelegationTokenCache(), given.time)
    given.store.unreadable.add("broken")
    other.load()
    assert other.tokens() == [token]
    given.manager.renew_token(ALICE, token.hmac, 5)
    other.changed(token_id)
    assert other.tokens() == given.manager.tokens()
    given.manager.expire_token(ALICE, token.hmac, -1)
    other.changed(token_id)
    assert other.tokens() == []


@pytest.mark.parametrize(
    ("secret", "master", "key"), [("s", None, b"s"), (None, "m", b"m"), ("s", "m", b"s"), (None, None, b"")]
)
def test_the_older_name_of_the_key(secret: str | None, master: str | None, key: bytes) -> None:
    values = {
        "delegation.token.secret.key": None if secret is None else Password(secret),
        "delegation.token.master.key": None if master is None else Password(master),
        "delegation.token.max.lifetime.ms": 3,
        "delegation.token.expiry.time.ms": 2,
        "delegation.token.expiry.check.interval.ms": 1,
    }
    config = DelegationTokenConfig.of(values)
    assert config == DelegationTokenConfig(key, 3, 2, 1)
    assert repr(key) not in repr(config) or not key
