"""Credentials on the command line of ``kafka-lite configs``."""

from __future__ import annotations

from typing import Any, cast

import pytest

from kafka_lite.security.scram.scram_credential import ScramCredential
from kafka_lite.security.scram.scram_formatter import ScramFormatter
from kafka_lite.security.scram.scram_mechanism import ScramMechanism
from kafka_lite.tools.admin.scram_configs import alter_credentials_in_zookeeper, credential_changes, has_credentials
from kafka_lite.tools.common.tool_errors import ToolError
from tests.support.config_store import ConfigStore

SHA_256 = "SCRAM-SHA-256"


def test_the_password_is_salted_here() -> None:
    deletions, (changed,) = credential_changes("alice", {SHA_256: "iterations=8192,password=a=b"}, ["SCRAM-SHA-512"])
    formatter = ScramFormatter(ScramMechanism.SCRAM_SHA_256)
    assert changed.salted_password == formatter.salted_password("a=b", changed.salt, 8192)
    assert [(each.user, each.mechanism) for each in deletions] == [("alice", 2)]
    _, (changed,) = credential_changes("alice", {SHA_256: "password=x"}, [])
    assert changed.iterations == 4096


@pytest.mark.parametrize(
    ("user", "text", "says"),
    [
        ("", "password=x", "no default credentials"),
        ("alice", "iterations=8192", "write \\[iterations"),
        ("alice", "password=x,salt=y", "write \\[iterations"),
        ("alice", "iterations=4095,password=x", "Iterations 4095 is less than the minimum 4096"),
        ("alice", "iterations=many,password=x", "Iterations many"),
    ],
)
def test_a_mistake_is_named(user: str, text: str, says: str) -> None:
    with pytest.raises(ToolError, match=says):
        credential_changes(user, {SHA_256: text}, [])


def test_credentials_and_quotas_are_not_mixed() -> None:
    assert has_credentials([SHA_256, "SCRAM-SHA-512"])
    assert not has_credentials(["producer_byte_rate"])
    assert not has_credentials([])
    with pytest.raises(ToolError, match="two calls"):
        has_credentials([SHA_256, "producer_byte_rate"])


def test_the_first_user_is_made_in_zookeeper(capsys: pytest.CaptureFixture[str]) -> None:
    store = cast(Any, ConfigStore())
    alter_credentials_in_zookeeper(store, "broker", {SHA_256: "password=secret"}, [])
    assert ScramCredential.from_string(store.nodes["users/broker"][SHA_256]).iterations == 4096
    assert "user-principal 'broker'" in capsys.readouterr().out
