"""kazoo's step of SASL: what is sent, and what a refusal or a lost connection becomes."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import pytest
from kazoo.exceptions import ConnectionDropped
from kazoo.protocol.serialization import SASL, write_buffer

from kafka_lite.zookeeper.digest_md5 import DigestMd5Server
from kafka_lite.zookeeper.sasl_connection import SaslConnectionHandler, ZkLogin

AUTH_FAILED = -115


class Handler(SaslConnectionHandler):
    """Connected to a server in this thread, which may hang up instead of its nth response."""

    def __init__(self, password: str = "secret", *, hangs_up_at: int = 0, refuses: bool = False) -> None:
        self._login = ZkLogin("kafka", password)
        self.results: list[bool] = []
        self._authenticated = self.results.append
        self.server = DigestMd5Server({"kafka": "secret"})
        self.tokens: list[bytes] = []
        self._hangs_up_at, self._refuses = hangs_up_at, refuses

    def _submit(self, request: SASL, _timeout_s: float, xid: int) -> None:
        assert xid == len(self.tokens) + 1
        self.tokens.append(request.challenge)

    def _read_header(self, _timeout_s: float) -> tuple[Any, bytes, int]:
        if len(self.tokens) == self._hangs_up_at:
            raise ConnectionDropped("socket connection broken")
        if self._refuses:
            return SimpleNamespace(err=AUTH_FAILED), b"", 0
        return SimpleNamespace(err=0), write_buffer(self.server.evaluate_response(self.tokens[-1])), 0


def test_both_sides_prove_that_they_know_the_password() -> None:
    handler = Handler()
    handler._authenticate_with_sasl("host", 1)
    assert handler.server.authorization_id == "kafka"
    assert (handler.results, handler.tokens[0]) == ([True], b"")


@pytest.mark.parametrize(
    "handler", [Handler("wrong", hangs_up_at=2), Handler(refuses=True)], ids=["hangs up at the proof", "has no SASL"]
)
def test_a_refusal_is_said_and_the_connection_tried_again(handler: Handler, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR), pytest.raises(ConnectionDropped, match="not authenticated"):
        handler._authenticate_with_sasl("host", 1)
    assert handler.results == [False]
    assert "ZooKeeper refuses the user kafka: wrong user or password" in caplog.text


def test_a_connection_that_is_lost_before_the_proof_is_no_refusal() -> None:
    handler = Handler(hangs_up_at=1)
    with pytest.raises(ConnectionDropped, match="socket connection broken"):
        handler._authenticate_with_sasl("host", 1)
    assert handler.results == []


def test_a_login_never_shows_its_password() -> None:
    assert "secret" not in repr(ZkLogin("kafka", "secret"))
