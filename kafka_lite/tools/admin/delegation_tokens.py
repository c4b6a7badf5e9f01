"""``kafka-lite delegation-tokens``: create, renew, expire and show delegation tokens.

Kafka 1.1: core/.../admin/DelegationTokenCommand.scala, bin/kafka-delegation-tokens.sh; since 3.5
tools/.../DelegationTokenCommand.java · book 7.3.2
"""

from __future__ import annotations

import argparse
import base64
import binascii
import time
from collections.abc import Iterable, Sequence

from kafka_lite.common.security.kafka_principal import KafkaPrincipal
from kafka_lite.protocol.messages import api_38_create_delegation_token as create
from kafka_lite.protocol.messages import api_39_renew_delegation_token as renew
from kafka_lite.protocol.messages import api_40_expire_delegation_token as expire
from kafka_lite.protocol.messages import api_41_describe_delegation_token as describe
from kafka_lite.tools.admin.admin_channel import AdminChannel, check_error
from kafka_lite.tools.admin.command_config import add_command_config_argument, admin_channel
from kafka_lite.tools.common.tool_errors import ToolError, reports_errors

NAME = "delegation-tokens"
SUMMARY = "create, renew, expire and show delegation tokens, with which others act for a user"

ACTIONS = ("create", "renew", "expire", "describe")
NEEDED = {
    "create": ("max_life_time_period",),
    "renew": ("hmac", "renew_time_period"),
    "expire": ("hmac", "expiry_time_period"),
    "describe": (),
}
"""The flags that an action cannot do without."""
USED = {
    "create": ("max_life_time_period", "owner_principal", "renewer_principal"),
    "renew": ("hmac", "renew_time_period"),
    "expire": ("hmac", "expiry_time_period"),
    "describe": ("owner_principal",),
}
"""The flags that have a meaning for an action; another one is a mistake, and refused."""
_ROW = "\n{:<15} {:<30} {:<15} {:<15} {:<25} {:<15} {:<15} {:<15}"
_TITLES = ("TOKENID", "HMAC", "OWNER", "REQUESTER", "RENEWERS", "ISSUEDATE", "EXPIRYDATE", "MAXDATE")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of kafka-delegation-tokens.sh."""
    parser.add_argument("--bootstrap-server", required=True, metavar="HOST:PORT", help="brokers to connect to")
    add_command_config_argument(parser)
    actions = parser.add_mutually_exclusive_group(required=True)
    actions.add_argument("--create", action="store_true", help="create a token")
    actions.add_argument("--renew", action="store_true", help="let a token expire later")
    actions.add_argument("--expire", action="store_true", help="let a token expire at another time, or end it")
    actions.add_argument("--describe", action="store_true", help="show tokens: those that you own, renew, or may see")
    parser.add_argument(
        "--owner-principal",
        action="append",
        metavar="TYPE:NAME",
        help="whose token; --create takes one, other than yourself; --describe includes those that they may renew",
    )
    parser.add_argument(
        "--renewer-principal", action="append", metavar="TYPE:NAME", help="who, besides the owner, may renew the token"
    )
    parser.add_argument("--hmac", metavar="BASE64", help="the secret of the token")
    for flag, default in (
        ("max-life-time", "delegation.token.max.lifetime.ms"),
        ("renew-time", "delegation.token.expiry.time.ms"),
    ):
        parser.add_argument(
            f"--{flag}-period", type=int, metavar="MS", help=f"in milliseconds; -1 for the broker's {default}"
        )
    parser.add_argument("--expiry-time-period", type=int, metavar="MS", help="in milliseconds; -1 to end it now")


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Do the one action; returns 1 on error."""
    action = next(name for name in ACTIONS if getattr(options, name))
    _check_flags(options, action)
    owners = _principals(options.owner_principal)
    renewers = _principals(options.renewer_principal)
    with admin_channel(options) as channel:
        match action:
            case "create":
                _create(channel, owners, renewers, options.max_life_time_period)
            case "renew":
                _renew(channel, options.hmac, options.renew_time_period)
            case "expire":
                _expire(channel, options.hmac, options.expiry_time_period)
            case _:
                _describe(channel, owners)
    return 0


def _check_flags(options: argparse.Namespace, action: str) -> None:
    """Raise ToolError for a flag that is missing, or has no meaning here."""
    if options.command_config is None:
        raise ToolError("--command-config is missing: a broker takes such requests only from users that it knows")
    missing = [_flag(name) for name in NEEDED[action] if getattr(options, name) is None]
    if missing:
        raise ToolError(f"--{action} needs {' and '.join(missing)}")
    everything = sorted({name for names in USED.values() for name in names})
    wrong = [_flag(name) for name in everything if name not in USED[action] and getattr(options, name) is not None]
    if wrong:
        raise ToolError(f"--{action} does not take {' or '.join(wrong)}")
    if action == "create" and len(options.owner_principal or ()) > 1:
        raise ToolError("--create takes one --owner-principal: a token has one owner")


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _principals(texts: Sequence[str] | None) -> list[KafkaPrincipal]:
    try:
        return [KafkaPrincipal.parse(text.strip()) for text in texts or ()]
    except ValueError as error:
        raise ToolError(str(error)) from None


def _secret(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ToolError("--hmac is not in base 64: copy the column HMAC of the token") from None


# ── Actions


def _create(
    channel: AdminChannel, owners: list[KafkaPrincipal], renewers: list[KafkaPrincipal], max_life_time_ms: int
) -> None:
    print(f"Calling create token operation with renewers :{_listed(renewers)} , "
          f"max-life-time-period :{max_life_time_ms}")  # fmt: skip
    request = create.CreateDelegationTokenRequest(
        renewers=[create.CreatableRenewers(principal_type=r.principal_type, principal_name=r.name) for r in renewers],
        max_lifetime_ms=max_life_time_ms,
    )
    for owner in owners:
        request.owner_principal_type, request.owner_principal_name = owner.principal_type, owner.name
    made = channel.send(request, create.CreateDelegationTokenResponse)
    check_error(made.error_code)
    print(f"Created delegation token with tokenId : {made.token_id}")
    owner = KafkaPrincipal(made.principal_type, made.principal_name)
    requester = KafkaPrincipal(made.token_requester_principal_type, made.token_requester_principal_name)
    times = (made.issue_timestamp_ms, made.expiry_timestamp_ms, made.max_timestamp_ms)
    _print_tokens([(made.token_id, made.hmac, owner, requester, renewers, times)])


def _renew(channel: AdminChannel, hmac: str, period_ms: int) -> None:
    request = renew.RenewDelegationTokenRequest(hmac=_secret(hmac), renew_period_ms=period_ms)
    print(f"Calling renew token operation with hmac :{hmac} , renew-time-period :{period_ms}")
    response = channel.send(request, renew.RenewDelegationTokenResponse)
    check_error(response.error_code)
    print(f"Completed renew operation. New expiry date : {_date(response.expiry_timestamp_ms)}")


def _expire(channel: AdminChannel, hmac: str, period_ms: int) -> None:
    request = expire.ExpireDelegationTokenRequest(hmac=_secret(hmac), expiry_time_period_ms=period_ms)
    print(f"Calling expire token operation with hmac :{hmac} , expire-time-period :{period_ms}")
    response = channel.send(request, expire.ExpireDelegationTokenResponse)
    check_error(response.error_code)
    print(f"Completed expire operation. New expiry date : {_date(response.expiry_timestamp_ms)}")


def _describe(channel: AdminChannel, owners: list[KafkaPrincipal]) -> None:
    """Print the tokens of these owners; without owners, every token that the user may see.

    Kafka's tool sends an empty list of owners in that case, and prints nothing.
    """
    if owners:
        print(f"Calling describe token operation for owners: {_listed(owners)}")
    else:
        print("Calling describe token operation for current user.")
    asked = [
        describe.DescribeDelegationTokenOwner(principal_type=owner.principal_type, principal_name=owner.name)
        for owner in owners
    ]
    request = describe.DescribeDelegationTokenRequest(owners=asked or None)
    response = channel.send(request, describe.DescribeDelegationTokenResponse)
    check_error(response.error_code)
    print(f"Total number of tokens : {len(response.tokens)}")
    _print_tokens(
        (
            token.token_id,
            token.hmac,
            KafkaPrincipal(token.principal_type, token.principal_name),
            KafkaPrincipal(token.token_requester_principal_type, token.token_requester_principal_name),
            [KafkaPrincipal(each.principal_type, each.principal_name) for each in token.renewers],
            (token.issue_timestamp, token.expiry_timestamp, token.max_timestamp),
        )
        for token in response.tokens
    )


# ── Output


_Row = tuple[str, bytes, KafkaPrincipal, KafkaPrincipal, list[KafkaPrincipal], tuple[int, int, int]]


def _print_tokens(tokens: Iterable[_Row]) -> None:
    print(_ROW.format(*_TITLES))
    for token_id, hmac, owner, requester, renewers, times in tokens:
        secret = base64.b64encode(hmac).decode()
        shown = (token_id, secret, str(owner), str(requester), _listed(renewers))
        print(_ROW.format(*shown, *map(_date, times)))


def _listed(principals: Iterable[KafkaPrincipal]) -> str:
    return f"[{', '.join(map(str, principals))}]"


def _date(timestamp_ms: int) -> str:
    """``2026-11-29T08:30`` in the local time zone."""
    return time.strftime("%Y-%m-%dT%H:%M", time.localtime(timestamp_ms / 1000))
