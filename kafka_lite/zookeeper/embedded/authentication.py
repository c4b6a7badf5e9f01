"""Client identities, and what an ACL allows them to do.

ZooKeeper 3.8: zookeeper-server/.../server/auth/, ZooKeeperServer.checkACL, PrepRequestProcessor.fixupACL · book 7.1.3

Schemes: ``world:anyone``; ``ip:address[/bits]``; ``digest:user:base64(sha1(user:password))``; ``sasl:user`` and
``x509:subject``, by which Kafka's brokers are known; ``auth``, which stands for the identities of the client that sets
the ACL; and ``super``, not an ACL scheme but an identity with all rights.
"""

from __future__ import annotations

import base64
import hashlib
import ipaddress
import re
from collections.abc import Callable, Iterable, Sequence

from kafka_lite.zookeeper.embedded.keeper_exception import Code, KeeperException
from kafka_lite.zookeeper.embedded.protocol import ACL, ANYONE, Id, Perms

SUPER = Id("super", "")
SASL_SCHEME = "sasl"
X509_SCHEME = "x509"
_SCHEMES_OF_USERS = ("digest", SASL_SCHEME, X509_SCHEME)
_PARTS = re.compile(r"(?<!\\)[,+]")
_KERBEROS_NAME = re.compile(r"[^/@]*(/[^/@]*)?@[^/@]*")


def generate_digest(credentials: str) -> str:
    """``user:password`` → ``user:base64(sha1(user:password))``."""
    user = credentials.partition(":")[0]
    digest = base64.b64encode(hashlib.sha1(credentials.encode(), usedforsecurity=False).digest())
    return f"{user}:{digest.decode()}"


def authenticate(scheme: str, auth: bytes, address: str, super_digest: str | None = None) -> list[Id]:
    """Return the identities that the credentials prove. Raises AUTH_FAILED for an unknown scheme or malformed data."""
    if scheme == "ip":
        return [Id("ip", address)]
    if scheme != "digest":
        raise KeeperException(Code.AUTH_FAILED)
    try:
        digest = generate_digest(auth.decode())
    except UnicodeDecodeError as error:
        raise KeeperException(Code.AUTH_FAILED) from error
    identity = Id("digest", digest)
    return [SUPER, identity] if digest == super_digest else [identity]


def check_acl(acl: Sequence[ACL], perms: Perms, identities: Iterable[Id], path: str = "") -> None:
    """Raise NO_AUTH unless an entry grants one of ``perms`` to everybody or to one of the identities."""
    identities = list(identities)
    if not acl or any(identity.scheme == SUPER.scheme for identity in identities):
        return
    for entry in acl:
        if entry.perms & perms and (entry.id == ANYONE or any(_matches(entry.id, who) for who in identities)):
            return
    raise KeeperException(Code.NO_AUTH, path)


def fixup_acl(acl: Iterable[ACL], identities: Sequence[Id], path: str = "") -> tuple[ACL, ...]:
    """Return the ACL to store: deduplicated, with ``auth`` replaced by the client's identities. Raises INVALID_ACL."""
    entries = dict.fromkeys(fixed for entry in dict.fromkeys(acl) for fixed in _fixup_entry(entry, identities, path))
    if not entries:
        raise KeeperException(Code.INVALID_ACL, path)
    return tuple(entries)


def _fixup_entry(entry: ACL, identities: Sequence[Id], path: str) -> list[ACL]:
    if entry.id == ANYONE:
        return [entry]
    if entry.id.scheme == "auth":
        # An address does not identify a user, so "auth" never includes it.
        mine = [ACL(entry.perms, identity) for identity in identities if identity.scheme in _SCHEMES_OF_USERS]
        if not mine:
            raise KeeperException(Code.INVALID_ACL, path)
        return mine
    is_valid = _VALIDATORS.get(entry.id.scheme)
    if is_valid is None or not is_valid(entry.id.id):
        raise KeeperException(Code.INVALID_ACL, path)
    return [entry]


def masked(acl: Iterable[ACL]) -> tuple[ACL, ...]:
    """The ACL as shown without ADMIN permission: digests are hidden."""
    return tuple(
        ACL(entry.perms, Id("digest", entry.id.id.partition(":")[0] + ":x")) if entry.id.scheme == "digest" else entry
        for entry in acl
    )


def _matches(expression: Id, who: Id) -> bool:
    if expression.scheme != who.scheme:
        return False
    if expression.scheme == "ip":
        # An ACL stored by another server may contain an address that we would have rejected.
        return _is_valid_ip(expression.id) and _address(who.id) in _network(expression.id)
    if expression.scheme == SASL_SCHEME and who.id == SUPER.scheme:
        return True
    return expression == who


def _is_valid_ip(expression: str) -> bool:
    try:
        _network(expression)
    except ValueError:
        return False
    return True


def _network(expression: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    return ipaddress.ip_network(expression, strict=False)


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    return ipaddress.ip_address(text)


def _is_distinguished_name(expression: str) -> bool:
    """Whether it can be a certificate's subject, such as ``CN=kafka,OU=Brokers``."""
    return all(
        keyword.strip() and value for keyword, _, value in (part.partition("=") for part in _PARTS.split(expression))
    )


_VALIDATORS: dict[str, Callable[[str], bool]] = {
    "ip": _is_valid_ip,
    "digest": lambda expression: expression.count(":") == 1,
    X509_SCHEME: _is_distinguished_name,
    SASL_SCHEME: lambda expression: "@" not in expression or _KERBEROS_NAME.fullmatch(expression) is not None,
}
