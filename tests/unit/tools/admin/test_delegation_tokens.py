"""The flags and the words of kafka-delegation-tokens.sh, over the handlers of a broker."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

import pytest

from kafka_lite.common.security.kafka_principal import KafkaPrincipal
from kafka_lite.tools.admin import delegation_tokens
from tests.unit.server.apis.test_delegation_token_apis import Given

HEAD = ["TOKENID", "HMAC", "OWNER", "REQUESTER", "RENEWERS", "ISSUEDATE", "EXPIRYDATE", "MAXDATE"]


class Channel:
    """An AdminChannel of alice to a broker that has only the handlers of tokens."""

    def __init__(self) -> None:
        self.broker = Given()
        self.user = KafkaPrincipal("User", "alice")

    def __enter__(self) -> Channel:
        return self

    def __exit__(self, *_: object) -> None: ...

    def send(self, request: Any, _response: type[Any]) -> Any:
        return self.broker.ask(request, self.user)


class Tool:
    def __init__(self, channel: Channel, config: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.channel = channel
        self._config, self._capsys = config, capsys

    def __call__(self, *arguments: str, config: bool = True) -> tuple[int, str, str]:
        """The exit code, what it prints, and its error."""
        parser = argparse.ArgumentParser()
        delegation_tokens.add_arguments(parser)
        where = ["--bootstrap-server", "b:1", *(["--command-config", str(self._config)] if config else [])]
        code = delegation_tokens.run(parser.parse_args([*where, *arguments]))
        out, err = self._capsys.readouterr()
        return code, out, err

    def created(self, *arguments: str) -> list[str]:
        """The row of a new token."""
        code, out, _ = self("--create", "--max-life-time-period", "-1", *arguments)
        assert code == 0
        return re.split(r"  +|(?<!,) ", out.splitlines()[-1].strip())


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Tool:
    channel = Channel()
    monkeypatch.setattr(delegation_tokens, "admin_channel", lambda _options: channel)
    return Tool(channel, tmp_path / "client.properties", capsys)


def test_a_token_is_created_shown_renewed_and_ended(tool: Tool) -> None:
    renewers = ["--renewer-principal", "User:bob", "--renewer-principal", " User:carol "]
    code, out, _ = tool("--create", "--max-life-time-period", "50", *renewers)
    words = "Calling create token operation with renewers :[User:bob, User:carol] , max-life-time-period :50"
    first, second, *_, head, _, row = out.splitlines()
    assert (code, first, head.split()) == (0, words, HEAD)
    token_id, hmac, owner, requester, *renewers, issued, expires, ends = row.split()
    assert second == f"Created delegation token with tokenId : {token_id}"
    assert (owner, requester, renewers) == ("User:alice", "User:alice", ["[User:bob,", "User:carol]"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d", issued)
    assert issued == expires == ends  # milliseconds later

    code, out, _ = tool("--describe")
    assert out.splitlines()[:2] == ["Calling describe token operation for current user.", "Total number of tokens : 1"]
    assert out.splitlines()[-1] == row
    code, out, _ = tool("--describe", "--owner-principal", "User:bob")
    assert out.splitlines()[0] == "Calling describe token operation for owners: [User:bob]"
    assert out.splitlines()[-1] == row

    code, out, _ = tool("--renew", "--hmac", hmac, "--renew-time-period", "-1")
    assert out.splitlines()[0] == f"Calling renew token operation with hmac :{hmac} , renew-time-period :-1"
    assert out.splitlines()[1] == f"Completed renew operation. New expiry date : {expires}"
    code, out, _ = tool("--expire", "--hmac", hmac, "--expiry-time-period", "-1")
    assert (code, out.splitlines()[1]) == (0, f"Completed expire operation. New expiry date : {issued}")
    assert "Total number of tokens : 0" in tool("--describe")[1]


def test_a_token_for_another_user(tool: Tool) -> None:
    assert tool.created("--owner-principal", "User:bob")[2:5] == ["User:bob", "User:alice", "[]"]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--create"], "--create needs --max-life-time-period"),
        (["--renew", "--hmac", "aGk="], "--renew needs --renew-time-period"),
        (["--renew"], "--renew needs --hmac and --renew-time-period"),
        (["--expire", "--expiry-time-period", "-1"], "--expire needs --hmac"),
        (["--create", "--max-life-time-period", "1", "--hmac", "aGk="], "--create does not take --hmac"),
        (["--describe", "--renewer-principal", "User:b"], "--describe does not take --renewer-principal"),
        (["--describe", "--owner-principal", "bob"], "'bob' is not a principal"),
        (["--renew", "--hmac", "?", "--renew-time-period", "-1"], "--hmac is not in base 64"),
        (["--renew", "--hmac", "aGk=", "--renew-time-period", "-1"], "There is no such delegation token."),
        (
            ["--create", "--max-life-time-period", "1", "--owner-principal", "User:a", "--owner-principal", "User:b"],
            "a token has one owner",
        ),
    ],
)
def test_what_is_missing_or_wrong_is_named(tool: Tool, arguments: list[str], why: str) -> None:
    code, _, err = tool(*arguments)
    assert (code, why in err) == (1, True), err


def test_without_a_configuration_no_broker_would_know_the_user(tool: Tool) -> None:
    code, _, err = tool("--describe", config=False)
    assert code == 1
    assert "--command-config is missing" in err
