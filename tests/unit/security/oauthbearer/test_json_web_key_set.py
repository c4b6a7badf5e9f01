"""The keys of an issuer: from a file that changes, and from a URL that is asked again when it is time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.security.oauthbearer import json_web_key_set
from kafka_lite.security.oauthbearer.json_web_key_set import JsonWebKeySet, JwksError, parse_jwks
from tests.support.signed_tokens import jwks

A, B = {"kty": "RSA", "kid": "a"}, {"kty": "EC", "kid": "b", "use": "sig"}


def test_a_file_is_read_again_when_it_has_changed(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    file.write_bytes(jwks(A))
    keys = JsonWebKeySet(file.as_uri(), MockTime())
    assert (keys.key("a"), keys.key("b")) == (A, None)
    file.write_bytes(jwks(A, B))
    assert keys.key("b") == B
    file.write_bytes(b"half of a fi")
    assert keys.key("b") == B, "the former keys stay"
    file.unlink()
    assert keys.key("a") == A


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"{", "is no JSON Web Key Set"),
        (b'{"keys": 7}', "is no JSON Web Key Set"),
        (b'["keys"]', "is no JSON Web Key Set"),
        (jwks(), "has no key with an id"),
        (jwks({"kty": "RSA"}, {"kid": "e", "use": "enc"}), "has no key with an id"),
    ],
)
def test_other_content_is_refused(data: bytes, says: str) -> None:
    with pytest.raises(JwksError, match=says):
        parse_jwks(data)


@pytest.mark.parametrize("url", ["file:///not/there.json", "ftp://host/keys", "keys.json"])
def test_there_must_be_keys_to_begin_with(url: str) -> None:
    with pytest.raises(JwksError, match=r"cannot read|must be a URL that begins with file: or https:"):
        JsonWebKeySet(url, MockTime())


class Issuer:
    """A web server with keys."""

    def __init__(self) -> None:
        self.data = jwks(A)
        self.asked = 0
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer.asked += 1
                self.send_response(200)
                self.end_headers()
                self.wfile.write(issuer.data)

            def log_message(self, *_: object) -> None:
                """Quiet."""

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/keys"


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    made = Issuer()
    thread = threading.Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


def test_a_url_is_asked_when_it_is_time_and_soon_after_an_unknown_key(
    issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Now(threading.Thread):
        def start(self) -> None:
            self.run()

    time = MockTime()
    keys = JsonWebKeySet(issuer.url, time, refresh_ms=60_000)
    monkeypatch.setattr(threading, "Thread", Now)
    time.sleep(9_999)
    issuer.data = jwks(A, B)
    assert (keys.key("b"), issuer.asked) == (None, 1)
    time.sleep(1)
    assert (keys.key("b"), keys.key("c"), issuer.asked) == (B, None, 2)
    time.sleep(59_999)
    assert (keys.key("a"), issuer.asked) == (A, 2)
    issuer.data = b"an error page"
    time.sleep(1)
    assert (keys.key("a"), issuer.asked) == (A, 3)


def test_an_answer_without_end_is_cut_off(issuer: Issuer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_web_key_set, "MAX_BYTES", 10)
    with pytest.raises(JwksError, match="has more than 10 bytes"):
        JsonWebKeySet(issuer.url, MockTime())
