"""A clock that is set forward or back, and a machine that was suspended: quotas, tokens and sessions.

What is a duration follows the monotonic clock, which nobody sets: throttle times, rates, sessions. What others see as a
point in time follows the wall clock: when a token expires.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.security.kafka_principal import KafkaPrincipal
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.stats import MetricConfig
from kafka_lite.network.authenticator import AuthenticationFailedError
from kafka_lite.network.connection_rate_quotas import ConnectionRateConfig, ConnectionRateQuotas
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersion, ApiVersionsResponse
from kafka_lite.security.delegation_token.delegation_token_cache import DelegationTokenCache
from kafka_lite.security.delegation_token.token_information import TokenInformation
from kafka_lite.security.oauthbearer.oauth_bearer_sasl_client import OAuthBearerSaslClient
from kafka_lite.security.oauthbearer.oauth_bearer_sasl_server import OAuthBearerSaslServer
from kafka_lite.security.oauthbearer.oauth_bearer_unsecured_jws import UnsecuredValidator, new_unsecured_token
from kafka_lite.security.sasl.sasl_client_authenticator import SaslClientAuthenticator
from kafka_lite.security.sasl.sasl_mechanism import SaslClient, SaslServer
from kafka_lite.security.sasl.sasl_server_authenticator import SaslListener, SaslServerAuthenticator
from kafka_lite.security.scram.scram_formatter import ScramFormatter
from kafka_lite.security.scram.scram_mechanism import ScramMechanism
from kafka_lite.security.scram.scram_sasl_client import ScramSaslClient
from kafka_lite.security.scram.scram_sasl_server import ScramSaslServer
from kafka_lite.server.admin.delegation_token_manager import DelegationTokenConfig, DelegationTokenManager
from kafka_lite.server.quotas.client_quota_entity import KafkaQuotaEntity
from kafka_lite.server.quotas.client_quota_manager import ClientQuotaManager
from kafka_lite.server.quotas.controller_mutation_quota_manager import ControllerMutationQuotaManager
from kafka_lite.server.quotas.quota_type import QuotaType
from tests.support.clock_that_is_set import HOUR_MS, ClockThatIsSet
from tests.unit.server.admin.test_delegation_token_manager import Store

JUMPS = [HOUR_MS, -HOUR_MS]
WINDOWS = MetricConfig(samples=11, time_window_ms=1000)
ALICE = KafkaPrincipal("User", "alice")
SCRAM = ScramMechanism.SCRAM_SHA_256
CREDENTIAL = ScramFormatter(SCRAM).generate_credential("secret", 4096)
SESSION_MS = 10_000


@pytest.fixture
def time() -> ClockThatIsSet:
    return ClockThatIsSet()


# ── Quotas ────────────────────────────────────────────────────────────────────────────────────────────────────────────

Throttle = Callable[[], float]
"""Uses up much of a quota; the throttle time in ms."""


def produce(time: ClockThatIsSet) -> Throttle:
    manager = ClientQuotaManager(WINDOWS, Metrics(time=time), QuotaType.PRODUCE, time)
    manager.update_quota(KafkaQuotaEntity("alice"), 100)
    return lambda: manager.maybe_record_and_get_throttle_time_ms("alice", "c", 1500, time.hi_res_ms())


def mutations(time: ClockThatIsSet) -> Throttle:
    manager = ControllerMutationQuotaManager(WINDOWS, Metrics(time=time), time)
    manager.update_quota(KafkaQuotaEntity("alice"), 10)

    def throttle() -> float:
        quota = manager.new_permissive_quota_for("alice", "c")
        quota.record(120)
        return quota.throttle_time_ms

    return throttle


def connections(time: ClockThatIsSet) -> Throttle:
    quotas = ConnectionRateQuotas(ConnectionRateConfig(WINDOWS), Metrics(time=time), time)
    quotas.add_listener("EXTERNAL")
    quotas.update_listener_rate("EXTERNAL", 10)
    return lambda: max(quotas.record_connection("EXTERNAL") for _ in range(150))


QUOTAS = [produce, mutations, connections]


@pytest.mark.parametrize("quota", QUOTAS)
@pytest.mark.parametrize("jump_ms", JUMPS)
def test_a_throttle_time_does_not_depend_on_the_time_of_day(
    quota: Callable[[ClockThatIsSet], Throttle], jump_ms: int
) -> None:
    set_clock, other = ClockThatIsSet(), ClockThatIsSet()
    throttles = quota(set_clock), quota(other)
    for _ in range(5):
        found, expected = (each() for each in throttles)
        assert found == expected
        set_clock.set_ahead(jump_ms)
        for clock in (set_clock, other):
            clock.sleep(400)
    assert expected > 0


@pytest.mark.parametrize("quota", QUOTAS)
def test_a_debt_is_forgotten_while_the_machine_is_suspended(
    quota: Callable[[ClockThatIsSet], Throttle], time: ClockThatIsSet
) -> None:
    throttle = quota(time)
    first = [throttle() for _ in range(2)]
    assert first[-1] > 0
    time.sleep(HOUR_MS)
    assert [throttle() for _ in range(2)] == first


# ── Delegation tokens ─────────────────────────────────────────────────────────────────────────────────────────────────


def tokens(time: ClockThatIsSet) -> tuple[DelegationTokenManager, DelegationTokenCache]:
    cache = DelegationTokenCache()
    config = DelegationTokenConfig(
        b"key", max_lifetime_ms=7 * HOUR_MS, expiry_time_ms=2 * HOUR_MS, expiry_check_interval_ms=1
    )
    return DelegationTokenManager(config, Store(), cache, time), cache


def ids(manager: DelegationTokenManager) -> set[str]:
    manager.expire_tokens()
    return {each.token_info.token_id for each in manager.tokens()}


def test_a_token_expires_at_a_time_of_day(time: ClockThatIsSet) -> None:
    manager, _ = tokens(time)
    token = manager.create_token(ALICE, ALICE, (), -1)
    time.set_ahead(HOUR_MS)
    assert ids(manager) == {token.token_info.token_id}
    time.set_ahead(HOUR_MS + 1)
    with pytest.raises(ApiError) as raised:
        manager.renew_token(ALICE, token.hmac, -1)
    assert raised.value.error is Errors.DELEGATION_TOKEN_EXPIRED
    assert ids(manager) == set()


def test_a_clock_that_is_set_back_in_time_saves_a_token_that_was_not_deleted_yet(time: ClockThatIsSet) -> None:
    manager, _ = tokens(time)
    token = manager.create_token(ALICE, ALICE, (), -1)
    time.set_ahead(3 * HOUR_MS)
    time.set_ahead(-3 * HOUR_MS)
    assert ids(manager) == {token.token_info.token_id}


def test_a_clock_that_is_set_back_gives_no_token_a_longer_life_than_it_may_have(time: ClockThatIsSet) -> None:
    manager, _ = tokens(time)
    info = manager.create_token(ALICE, ALICE, (), -1).token_info
    time.set_ahead(-100 * HOUR_MS)
    for _ in range(3):
        (token,) = manager.tokens()
        expiry_ms = manager.renew_token(ALICE, token.hmac, -1)
        assert expiry_ms == time.milliseconds() + 2 * HOUR_MS  # sooner than before: it is counted from now
        assert expiry_ms <= info.max_timestamp
    time.set_ahead(105 * HOUR_MS)
    assert ids(manager) == set()


def test_a_token_from_the_future_is_valid(time: ClockThatIsSet) -> None:
    """Its broker's clock is ahead of ours."""
    now_ms = time.milliseconds()
    info = TokenInformation("id", ALICE, ALICE, (), now_ms + HOUR_MS, now_ms + 3 * HOUR_MS, now_ms + 2 * HOUR_MS)
    assert not info.has_expired(now_ms)
    assert info.has_expired(now_ms + 2 * HOUR_MS + 1)


# ── Sessions ──────────────────────────────────────────────────────────────────────────────────────────────────────────


class Session:
    """A client and its broker, after the authentication."""

    def __init__(
        self,
        time: ClockThatIsSet,
        client: Callable[[], SaslClient],
        server: Callable[[], SaslServer],
        max_reauth_ms: int,
    ) -> None:
        mechanism = client().mechanism
        keys = ((ApiKey.API_VERSIONS, 3), (ApiKey.SASL_HANDSHAKE, 1), (ApiKey.SASL_AUTHENTICATE, 2))
        known = [ApiVersion(api_key=key, min_version=0, max_version=latest) for key, latest in keys]
        versions = ApiVersionsResponse(api_keys=known)
        listener = SaslListener({mechanism: server}, lambda *_: versions, lambda: versions, {mechanism: max_reauth_ms})
        self.time = time
        self.server = SaslServerAuthenticator(listener, self._principal_of, time)
        self.client = SaslClientAuthenticator(client, "client", time)
        self._exchange(self.client.start(), self.server.receive)

    @staticmethod
    def _principal_of(end: SaslServer) -> KafkaPrincipal:
        return KafkaPrincipal("User", end.authorization_id)

    def authenticate_again(self) -> None:
        self._exchange(self.client.reauthenticate(), self.server.reauthenticate)

    def _exchange(self, frame: bytes | None, receive: Callable[[bytes], bytes | None]) -> None:
        while frame is not None:
            frame, receive = self.client.receive(receive(frame) or b""), self.server.receive
        assert self.client.complete
        assert self.server.complete

    def ends_in_ms(self) -> float:
        assert self.server.session_expiration_ms is not None
        return self.server.session_expiration_ms - self.time.hi_res_ms()

    def client_waits_ms(self) -> float:
        assert self.client.reauthentication_time_ms is not None
        return self.client.reauthentication_time_ms - self.time.hi_res_ms()


def by_password(time: ClockThatIsSet) -> Session:
    def server() -> SaslServer:
        return ScramSaslServer(SCRAM, {"alice": CREDENTIAL}.get)

    return Session(time, lambda: ScramSaslClient(SCRAM, "alice", "secret"), server, SESSION_MS)


def by_token(time: ClockThatIsSet, manager: DelegationTokenManager, cache: DelegationTokenCache) -> Session:
    token = manager.create_token(ALICE, ALICE, (), -1)
    user, password = token.token_info.token_id, token.hmac_as_base64_string

    def server() -> SaslServer:
        return ScramSaslServer(SCRAM, lambda _user: None, lambda token_id: cache.credential(SCRAM, token_id))

    return Session(time, lambda: ScramSaslClient(SCRAM, user, password, by_token=True), server, 0)


@pytest.mark.parametrize("jump_ms", JUMPS)
def test_a_session_lasts_as_long_as_it_was_said_to(time: ClockThatIsSet, jump_ms: int) -> None:
    session = by_password(time)
    assert session.ends_in_ms() == SESSION_MS
    waits_ms = session.client_waits_ms()
    time.set_ahead(jump_ms)
    assert session.ends_in_ms() == SESSION_MS
    assert session.client_waits_ms() == waits_ms
    time.sleep(waits_ms)
    assert session.ends_in_ms() > 0
    session.authenticate_again()
    assert session.ends_in_ms() == SESSION_MS


def test_a_session_is_over_once_the_machine_was_suspended(time: ClockThatIsSet) -> None:
    session = by_password(time)
    time.sleep(HOUR_MS)
    assert session.ends_in_ms() < 0
    assert session.client_waits_ms() < 0


def test_a_session_by_a_token_ends_when_the_token_was_to_expire(time: ClockThatIsSet) -> None:
    manager, cache = tokens(time)
    session = by_token(time, manager, cache)
    assert session.ends_in_ms() == 2 * HOUR_MS
    time.set_ahead(HOUR_MS)
    assert session.ends_in_ms() == 2 * HOUR_MS  # until the client authenticates again
    session.authenticate_again()
    assert session.ends_in_ms() == HOUR_MS
    time.set_ahead(-HOUR_MS)
    session.authenticate_again()
    assert session.ends_in_ms() == 2 * HOUR_MS


def test_a_token_that_the_jump_made_expire_opens_no_session(time: ClockThatIsSet) -> None:
    manager, cache = tokens(time)
    session = by_token(time, manager, cache)
    time.set_ahead(3 * HOUR_MS)
    session.authenticate_again()  # it is not deleted yet; Kafka lets the client in, too, for no time
    assert session.ends_in_ms() == 0
    manager.expire_tokens()
    with pytest.raises(AuthenticationFailedError):
        session.authenticate_again()


def test_an_unsecured_token_is_judged_by_the_time_of_day(time: ClockThatIsSet) -> None:
    validator = UnsecuredValidator.of({})

    def server() -> SaslServer:
        return OAuthBearerSaslServer(lambda value: validator.validate(value, time.milliseconds()))

    options = {"unsecuredLoginStringClaim_sub": "alice"}
    value = new_unsecured_token(options, time.milliseconds()).value
    session = Session(time, lambda: OAuthBearerSaslClient(value), server, 0)
    assert session.ends_in_ms() == HOUR_MS
    time.set_ahead(HOUR_MS)
    with pytest.raises(AuthenticationFailedError, match="invalid_token"):
        session.authenticate_again()
