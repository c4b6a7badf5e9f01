"""The credentials follow the users' nodes."""

from __future__ import annotations

import pytest

from kafka_lite.security.scram.credential_provider import CredentialProvider
from kafka_lite.security.scram.scram_formatter import ScramFormatter
from kafka_lite.security.scram.scram_mechanism import ScramMechanism

SHA_256, SHA_512 = ScramMechanism
CREDENTIAL = ScramFormatter(SHA_256).generate_credential("secret", 4096)


def test_a_credential_that_is_gone_is_forgotten() -> None:
    provider = CredentialProvider()
    provider.update_credentials("alice", {"SCRAM-SHA-256": CREDENTIAL.to_string(), "producer_byte_rate": "7"})
    assert provider.credential(SHA_256, "alice") == CREDENTIAL
    assert provider.credential(SHA_512, "alice") is provider.credential(SHA_256, "bob") is None
    provider.update_credentials("alice", {"producer_byte_rate": "7"})
    assert provider.credential(SHA_256, "alice") is None


def test_an_unreadable_credential_does_not_leave_the_old_password_valid() -> None:
    provider = CredentialProvider()
    provider.update_credentials("alice", {"SCRAM-SHA-256": CREDENTIAL.to_string()})
    with pytest.raises(ValueError, match="Credentials not valid"):
        provider.update_credentials("alice", {"SCRAM-SHA-256": "salt=x", "SCRAM-SHA-512": CREDENTIAL.to_string()})
    assert provider.credential(SHA_256, "alice") is None
    assert provider.credential(SHA_512, "alice") == CREDENTIAL
