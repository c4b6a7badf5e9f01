"""ACLs: which identities are permitted what, and which ACLs may be set."""

from __future__ import annotations

import pytest

from kafka_lite.zookeeper.embedded.authentication import (
    SUPER,
    authenticate,
    check_acl,
    fixup_acl,
    generate_digest,
    masked,
)
from kafka_lite.zookeeper.embedded.keeper_exception import Code, KeeperException
from kafka_lite.zookeeper.embedded.protocol import ACL, ANYONE, OPEN_ACL_UNSAFE, READ_ACL_UNSAFE, Id, Perms

ALICE = Id("digest", generate_digest("alice:secret"))
LOCAL = Id("ip", "127.0.0.1")
KAFKA = Id("sasl", "kafka")


def test_digest_matches_the_example_of_zookeepers_documentation() -> None:
    assert generate_digest("super:test") == "super:D/InIHSb7yEEbrWz8b9l71RjZJU="


@pytest.mark.parametrize(
    ("acl", "perms", "identities", "granted"),
    [
        (OPEN_ACL_UNSAFE, Perms.DELETE, [], True),
        (READ_ACL_UNSAFE, Perms.WRITE, [ALICE, LOCAL], False),
        (READ_ACL_UNSAFE, Perms.READ | Perms.ADMIN, [], True),
        ((ACL(Perms.WRITE, ALICE),), Perms.WRITE, [LOCAL, ALICE], True),
        ((ACL(Perms.WRITE, ALICE),), Perms.READ, [LOCAL, ALICE], False),
        ((ACL(Perms.WRITE, ALICE),), Perms.WRITE, [LOCAL], False),
        ((ACL(Perms.READ, Id("ip", "127.0.0.0/8")),), Perms.READ, [LOCAL], True),
        ((ACL(Perms.READ, Id("ip", "10.0.0.0/8")),), Perms.READ, [LOCAL], False),
        ((ACL(Perms.READ, Id("ip", "127.0.0.1")),), Perms.READ, [LOCAL], True),
        ((ACL(Perms.READ, Id("ip", "::1")),), Perms.READ, [LOCAL], False),
        ((ACL(Perms.READ, KAFKA),), Perms.READ, [LOCAL, KAFKA], True),
        ((ACL(Perms.READ, KAFKA),), Perms.READ, [LOCAL, Id("sasl", "other")], False),
        ((ACL(Perms.READ, KAFKA),), Perms.READ, [Id("digest", "kafka")], False),
        ((ACL(Perms.READ, KAFKA),), Perms.READ, [Id("sasl", "super")], True),
        ((ACL(Perms.READ, ALICE),), Perms.ADMIN, [SUPER], True),
        ((), Perms.ADMIN, [], True),
    ],
)
def test_check_acl(acl: tuple[ACL, ...], perms: Perms, identities: list[Id], granted: bool) -> None:
    if granted:
        check_acl(acl, perms, identities)
    else:
        with pytest.raises(KeeperException) as refusal:
            check_acl(acl, perms, identities)
        assert refusal.value.code is Code.NO_AUTH


@pytest.mark.parametrize(
    ("given_acl", "stored"),
    [
        ((*OPEN_ACL_UNSAFE, *OPEN_ACL_UNSAFE), OPEN_ACL_UNSAFE),
        ((ACL(31, Id("auth", "")),), (ACL(31, ALICE),)),
        ((ACL(31, Id("auth", "ignored")), ACL(31, ALICE)), (ACL(31, ALICE),)),
        ((ACL(1, Id("ip", "10.0.0.0/8")),), (ACL(1, Id("ip", "10.0.0.0/8")),)),
    ],
)
def test_fixup_acl(given_acl: tuple[ACL, ...], stored: tuple[ACL, ...]) -> None:
    assert fixup_acl(given_acl, [LOCAL, ALICE]) == stored


@pytest.mark.parametrize(
    "identity",
    [
        Id("world", "someone"),
        Id("digest", "no-colon"),
        Id("digest", "two:co:lons"),
        Id("ip", "300.0.0.1"),
        Id("ip", ""),
        Id("unheard-of", "x"),
        Id("auth", ""),
    ],
)
def test_invalid_acls_are_rejected(identity: Id) -> None:
    with pytest.raises(KeeperException) as refusal:
        fixup_acl((*OPEN_ACL_UNSAFE, ACL(31, identity)), [LOCAL])
    assert refusal.value.code is Code.INVALID_ACL


def test_an_empty_acl_is_rejected() -> None:
    with pytest.raises(KeeperException) as refusal:
        fixup_acl((), [ALICE])
    assert refusal.value.code is Code.INVALID_ACL


def test_authenticate() -> None:
    assert authenticate("digest", b"alice:secret", "127.0.0.1") == [ALICE]
    assert authenticate("ip", b"", "127.0.0.1") == [LOCAL]
    super_digest = generate_digest("super:test")
    assert authenticate("digest", b"super:test", "127.0.0.1", super_digest)[0] == SUPER
    assert SUPER not in authenticate("digest", b"super:wrong", "127.0.0.1", super_digest)


@pytest.mark.parametrize(("scheme", "auth"), [("world", b"anyone"), ("sasl", b"x"), ("digest", b"\xff\xfe")])
def test_invalid_credentials_are_rejected(scheme: str, auth: bytes) -> None:
    with pytest.raises(KeeperException) as refusal:
        authenticate(scheme, auth, "127.0.0.1")
    assert refusal.value.code is Code.AUTH_FAILED


def test_digests_are_masked() -> None:
    assert masked((ACL(31, ALICE), ACL(1, ANYONE))) == (ACL(31, Id("digest", "alice:x")), ACL(1, ANYONE))
