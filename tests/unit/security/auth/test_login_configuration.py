"""The JAAS login file that KAFKA_OPTS names, as Kafka's scripts give it to Java."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_lite.common.errors import KafkaError
from kafka_lite.security.auth.jaas_config import JaasConfigError, parse_login_config
from kafka_lite.security.auth.login_configuration import java_system_properties, zookeeper_login, zookeeper_users

DIGEST = "org.apache.zookeeper.server.auth.DigestLoginModule"
FILE = f"""
// as in Kafka's documentation
Client {{
  {DIGEST} required
  username="kafka" password="se cret";
}};
Server {{ {DIGEST} required user_kafka="se cret" user_admin=other debug=true; }};
Mine {{ {DIGEST} required username=me password=my; }};
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "ja as.conf"
    path.write_text(FILE)
    return path


def options(file: Path, *more: str) -> dict[str, str]:
    return {"KAFKA_OPTS": " ".join([f'"-Djava.security.auth.login.config={file}"', *more])}


def test_the_sections_are_read_by_their_names(file: Path) -> None:
    assert zookeeper_login(options(file)) == ("kafka", "se cret")
    assert zookeeper_users(options(file)) == {"kafka": "se cret", "admin": "other"}
    assert zookeeper_login(options(file, "-Dzookeeper.sasl.clientconfig=Mine", "-Xmx1g")) == ("me", "my")
    assert zookeeper_users(options(file, "-Dzookeeper.sasl.serverconfig=None")) == {}


@pytest.mark.parametrize("environ", [{}, {"KAFKA_OPTS": ""}, {"KAFKA_OPTS": "-Xmx1g -Dother=1"}])
def test_without_a_file_nobody_authenticates(environ: dict[str, str]) -> None:
    assert zookeeper_login(environ) is None
    assert zookeeper_users(environ) == {}


def test_a_file_may_have_no_section_for_this(file: Path) -> None:
    file.write_text(f"KafkaServer {{ {DIGEST} required; }};")
    assert zookeeper_login(options(file)) is None
    assert zookeeper_users(options(file)) == {}


def test_options_of_java() -> None:
    properties = java_system_properties({"KAFKA_OPTS": "-Da=1 -Db -Dc='x y' -Xmx1g -Da=2"})
    assert properties == {"a": "2", "b": "", "c": "x y"}
    with pytest.raises(KafkaError, match="KAFKA_OPTS cannot be read"):
        java_system_properties({"KAFKA_OPTS": "-Da='"})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"Client {{ {DIGEST} required username=a; }};", 'password is missing in the section Client: add password="…"'),
        ("Client { com.sun.Krb5LoginModule required; };", "has com.sun.Krb5LoginModule; valid here: one"),
        ("Client { };", "has nothing; valid here: one"),
        (f"Client {{ {DIGEST} required; {DIGEST} required; }};", "valid here: one"),
        (f"Client {{ {DIGEST} required username=a", "not terminated by semi-colon"),
        (f"Client {{ {DIGEST} required username=a;", "not closed"),
        (f"Client {DIGEST} required;", "lacks a '{'"),
        (f"Client {{ {DIGEST} required; }}", "lacks a ';'"),
        ("{ };", "no name of its own"),
        ("Client { }; Client { };", "no name of its own: 'Client'"),
    ],
)
def test_what_cannot_be_read_is_named(file: Path, text: str, why: str) -> None:
    file.write_text(text)
    with pytest.raises(KafkaError) as raised:
        zookeeper_login(options(file))
    assert why in str(raised.value)


def test_a_file_that_is_missing_and_a_client_that_is_switched_off(file: Path) -> None:
    with pytest.raises(KafkaError, match=r"zookeeper\.sasl\.client=false switches SASL off"):
        zookeeper_login(options(file, "-Dzookeeper.sasl.client=false"))
    file.unlink()
    with pytest.raises(KafkaError, match="cannot be read"):
        zookeeper_login(options(file))


def test_a_password_is_in_no_error(file: Path) -> None:
    file.write_text(f"Client {{ {DIGEST} required username=kafka passwort=hush; }};")
    with pytest.raises(JaasConfigError) as raised:
        zookeeper_login(options(file))
    assert "hush" not in str(raised.value)


def test_an_empty_file_has_no_sections() -> None:
    assert parse_login_config("/* nothing */") == {}
