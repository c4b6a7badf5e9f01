"""Listeners with TLS and SASL, their users, and a table of attempts to connect, right ones and wrong ones."""

from __future__ import annotations

from collections.abc import Mapping

from confluent_kafka.admin import (
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)

from kafka_lite.testing.security.certificate_authority import CertificateAuthority
from tests.support.secured_clients import PACKAGE, Attempt

HOST = "127.0.0.1"
WAIT_S = 30
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
PLAIN = f'{PACKAGE}.plain.PlainLoginModule required user_alice="secret";'
SESSION_MS, STAY_MS = 16_000, 18_000
"""How long a session lasts, and how long a client stays: those that know of sessions authenticate again meanwhile."""
AUTHORITY, FOREIGN = CertificateAuthority(), CertificateAuthority("someone else")
NAMES = ("TLS", "MUTUAL", "PASSWORDS", "SHORT", "FEW")
"""Listeners: TLS alone; with certificates of clients; all mechanisms; sessions that end; SCRAM-SHA-512 only."""
OTHERWISE = {
    "aiokafka": {"session", "oauthbearer expired"},
    **{f"java {version}": {"oauthbearer"} for version in ("0.10.2.2", "2.8.2", "3.9.1", "4.1.0")},
}
"""aiokafka has no sessions and takes a refused token for a success, Java makes no tokens."""
UNDECIDED = {("kafka-go", "session")}
"""kafka-go has no sessions, but may happen to use a new connection."""


def settings(ports: dict[str, int]) -> dict[str, str]:
    own = AUTHORITY.issue("localhost", ("localhost", HOST))
    protocols = dict.fromkeys(NAMES, "SASL_SSL") | {"TLS": "SSL", "MUTUAL": "SSL", "PLAINTEXT": "PLAINTEXT"}
    found = {
        "listeners": ",".join(f"{name}://{HOST}:{port}" for name, port in ports.items()),
        "listener.security.protocol.map": ",".join(f"{name}:{protocol}" for name, protocol in protocols.items()),
        "inter.broker.listener.name": "PLAINTEXT",
        "ssl.keystore.type": "PEM", "ssl.keystore.key": own.key, "ssl.keystore.certificate.chain": own.certificate,
        "ssl.truststore.type": "PEM", "ssl.truststore.certificates": AUTHORITY.certificate,
        "listener.name.mutual.ssl.client.auth": "required",
        "listener.name.passwords.sasl.enabled.mechanisms": ",".join(MECHANISMS),
        "listener.name.short.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.few.sasl.enabled.mechanisms": "SCRAM-SHA-512",
        "listener.name.short.plain.connections.max.reauth.ms": str(SESSION_MS),
    }  # fmt: skip
    for listener in ("passwords", "short"):
        found[f"listener.name.{listener}.plain.sasl.jaas.config"] = PLAIN
    scram = f"{PACKAGE}.scram.ScramLoginModule required;"
    for listener, mechanism in (("passwords", "256"), ("passwords", "512"), ("few", "512")):
        found[f"listener.name.{listener}.scram-sha-{mechanism}.sasl.jaas.config"] = scram
    found["listener.name.passwords.oauthbearer.sasl.jaas.config"] = (
        f"{PACKAGE}.oauthbearer.OAuthBearerLoginModule required;"
    )
    return found


def create_users(bootstrap: str) -> None:
    """alice may log in by SCRAM; bob could, and is revoked."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    kinds = (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512)
    info = [ScramCredentialInfo(kind, 4096) for kind in kinds]
    created = [UserScramCredentialUpsertion(user, each, b"secret") for user in ("alice", "bob") for each in info]
    for changes in (created, [UserScramCredentialDeletion("bob", kind) for kind in kinds]):
        for future in admin.alter_user_scram_credentials(changes).values():
            future.result(WAIT_S)


def attempts(ports: dict[str, int]) -> list[Attempt]:
    """The table."""
    trusted, alice = AUTHORITY.certificate, AUTHORITY.issue("alice")
    stranger, old = FOREIGN.issue("alice"), AUTHORITY.issue("alice", expired=True)
    tls, mutual, passwords, short, few = (f"{HOST}:{ports[name]}" for name in NAMES)
    found = [
        Attempt("tls", tls, trusted),
        Attempt("tls foreign broker", tls, FOREIGN.certificate),
        Attempt("mutual tls", mutual, trusted, certificate=alice.certificate, key=alice.key),
        Attempt("mutual tls nobody", mutual, trusted),
        Attempt("mutual tls foreign", mutual, trusted, certificate=stranger.certificate, key=stranger.key),
        Attempt("mutual tls expired", mutual, trusted, certificate=old.certificate, key=old.key),
        Attempt("oauthbearer", passwords, trusted, "OAUTHBEARER"),
        Attempt("oauthbearer expired", passwords, trusted, "OAUTHBEARER", token_ends_in_s=-600),
        Attempt("mechanism not enabled", few, trusted, "PLAIN", password="secret"),
        Attempt("foreign broker", passwords, FOREIGN.certificate, "PLAIN", password="secret"),
        Attempt("session", short, trusted, "PLAIN", password="secret", session_ms=STAY_MS),
    ]
    for mechanism in MECHANISMS[:3]:
        for name, user, password in (
            ("", "alice", "secret"), ("wrong password", "alice", "wrong"), ("unknown user", "carol", "secret"),
            ("revoked user", "bob", "secret"),
        ):  # fmt: skip
            found.append(Attempt(f"{mechanism} {name}".strip(), passwords, trusted, mechanism, user, password))
    return found


def right(client: str) -> set[str]:
    """The attempts that succeed, with Kafka 3.9.1 as with ours."""
    ours = {"tls", "mutual tls", "oauthbearer", "session", *MECHANISMS[:3]} ^ OTHERWISE.get(client, set())
    return {each for each in ours if (client, each) not in UNDECIDED}


def succeeded(client: str, found: Mapping[str, str]) -> set[str]:
    """The attempts that have succeeded, of those that may be judged."""
    return {each for each, result in found.items() if result == "ok" and (client, each) not in UNDECIDED}
