from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_lite.security.auth.jaas_config import JaasConfigError, parse_jaas_config
from kafka_lite.security.auth.jaas_context import JaasContext
from tests.support.examples import examples
from tests.support.kafka_security_samples import accepted, refused

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"


@pytest.mark.parametrize(("given", "entry"), accepted("jaas_config"))
def test_a_text_is_read_as_kafka_reads_it(given: list[str], entry: list[object]) -> None:
    (found,) = parse_jaas_config(given[0])
    assert [found.login_module, found.control_flag, found.options] == entry


@pytest.mark.parametrize("given", refused("jaas_config"))
def test_a_text_that_kafka_refuses_is_refused(given: list[str]) -> None:
    with pytest.raises(JaasConfigError):
        JaasContext.load(given[0], "PLAIN")


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("", 'write Module required key="value" ;'),
        (f"{PLAIN}", "write one of required, requisite, sufficient, optional after"),
        (f"{PLAIN} needed a=b;", "Invalid login module control flag 'needed' .* valid: required"),
        (f"{PLAIN} required password=12345;", 'write password="…"; a value that is a number'),
        (f'{PLAIN} required 1="b";', "Value not specified for key 'number'"),
        (f"{PLAIN} required a=b", "add ' ;' to the end"),
        (f"1 {PLAIN} required;", "Login module not specified in JAAS config: 'number' stands in its place"),
    ],
)
def test_an_error_says_what_to_write(text: str, advice: str) -> None:
    with pytest.raises(JaasConfigError, match=advice):
        parse_jaas_config(text)


@pytest.mark.parametrize(
    "text", [f'{PLAIN} required password="hush" 1hush hush', f'{PLAIN} required password="hush"', f"{PLAIN} hush=2;"]
)
def test_no_error_and_no_representation_shows_a_password(text: str) -> None:
    with pytest.raises(JaasConfigError) as raised:
        parse_jaas_config(text)
    assert "password" not in str(raised.value) or "hush" not in str(raised.value)
    assert "secret" not in repr(parse_jaas_config(f'{PLAIN} required password="secret";'))
    assert "secret" not in repr(JaasContext.load(f'{PLAIN} required password="secret";', "PLAIN"))


@settings(max_examples=examples(30))
@given(
    st.dictionaries(
        st.from_regex(r"[a-z_$][a-z0-9._$-]*", fullmatch=True), st.text(st.characters(codec="utf-8")), max_size=4
    )
)
def test_quoted_options_come_back(options: dict[str, str]) -> None:
    text = f"{SCRAM} required"
    for key, value in options.items():
        quoted = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
        text += f' {key}="{quoted}"'

    assert parse_jaas_config(text + ";")[0].options == options


@given(st.text(alphabet=st.sampled_from(["a", "1", "-", ".", "=", ";", '"', "'", "\\", "/", "*", "\n", " ", "é"])))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(JaasConfigError):
        assert parse_jaas_config(text)


def test_a_module_serves_its_own_mechanisms() -> None:
    assert JaasContext.load(f"{SCRAM} required username=a;", "SCRAM-SHA-512").options == {"username": "a"}
    with pytest.raises(JaasConfigError, match="serves SCRAM-SHA-256 and SCRAM-SHA-512, not PLAIN"):
        JaasContext.load(f"{SCRAM} required;", "PLAIN")
    kerberos = "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true;"
    assert JaasContext.load(kerberos, "GSSAPI").options == {"useKeyTab": "true"}
    with pytest.raises(JaasConfigError, match=r"LdapLoginModule is not a login module here; valid: .*PlainLoginModule"):
        JaasContext.load("com.sun.security.auth.module.LdapLoginModule required;", "PLAIN")


def test_a_missing_option_is_named() -> None:
    context = JaasContext.load(f"{PLAIN} required username=a;", "PLAIN")

    assert context.required("username") == "a"
    with pytest.raises(
        JaasConfigError, match='password is missing in the JAAS config of PlainLoginModule: add password="…"'
    ):
        context.required("password")
