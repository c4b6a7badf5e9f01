"""Errors of Kerberos' library: which of them may be gone at the next try, and what to do about one of them."""

from __future__ import annotations

import pytest

from kafka_lite.security.kerberos.gss_context import RETRIABLE_ERRORS, gss_error
from kafka_lite.security.sasl.sasl_mechanism import RetriableSaslError

BASE = -1765328384
"""KRB5KDC_ERR_NONE, as the header of the library has it."""


@pytest.mark.parametrize("code", RETRIABLE_ERRORS)
@pytest.mark.parametrize("sign", [0, 2**32])
def test_clocks_and_replays_allow_another_try(code: int, sign: int) -> None:
    assert isinstance(gss_error("no", sign + BASE + code), RetriableSaslError)


@pytest.mark.parametrize("code", [BASE + 6, BASE + 32, BASE + 141, 0, 34])
def test_other_errors_are_final(code: int) -> None:
    error = gss_error("no", code)
    assert not isinstance(error, RetriableSaslError)
    assert str(error) == "no"


def test_an_unknown_service_gets_a_hint() -> None:
    assert "no. Is the principal SERVICE/HOST in the database" in str(gss_error("no", BASE + 7))
