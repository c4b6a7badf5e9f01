"""Who a token concerns, when it has expired, and its secret."""

from __future__ import annotations

import base64

import pytest

from kafka_lite.common.security.kafka_principal import KafkaPrincipal
from kafka_lite.security.delegation_token.token_information import DelegationToken, TokenInformation, create_hmac

OWNER, REQUESTER, RENEWER, OTHER = (KafkaPrincipal("User", name) for name in ("owner", "requester", "renewer", "other"))
TOKEN = TokenInformation("id", OWNER, REQUESTER, (RENEWER,), issue_timestamp=0, max_timestamp=90, expiry_timestamp=50)


def test_the_requester_may_see_a_token_but_not_renew_it() -> None:
    everyone = (OWNER, REQUESTER, RENEWER, OTHER)
    assert [TOKEN.owner_or_renewer(each) for each in everyone] == [True, True, True, False]
    assert [TOKEN.may_be_renewed_by(each) for each in everyone] == [True, False, True, False]


@pytest.mark.parametrize(("now_ms", "expired"), [(49, False), (50, False), (51, True), (91, True)])
def test_a_token_is_valid_until_its_expiry_and_in_that_millisecond(now_ms: int, expired: bool) -> None:
    assert TOKEN.has_expired(now_ms) is expired


def test_the_secret_is_that_of_java() -> None:
    """As javax.crypto.Mac makes it: HmacSHA512 of the id."""
    secret = create_hmac("uZ2wAbCdTGqLmNoPqRsTuv", b"a key")
    assert len(secret) == 64
    assert secret == create_hmac("uZ2wAbCdTGqLmNoPqRsTuv", b"a key") != create_hmac("uZ2wAbCdTGqLmNoPqRsTuv", b"b key")
    # RFC 4231, test case 2
    of_rfc = create_hmac("what do ya want for nothing?", b"Jefe")
    assert of_rfc.hex().startswith("164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554")


def test_a_log_never_shows_the_secret() -> None:
    token = DelegationToken(TOKEN, b"hush")
    assert "hush" not in repr(token)
    assert token.hmac_as_base64_string == base64.b64encode(b"hush").decode()
