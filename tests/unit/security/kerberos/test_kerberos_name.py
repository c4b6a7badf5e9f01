"""A principal's name comes apart as in Kafka."""

from __future__ import annotations

import pytest

from kafka_lite.security.kerberos.kerberos_name import KerberosName

NAMES = {
    "alice@EXAMPLE.COM": KerberosName("alice", None, "EXAMPLE.COM"),
    "kafka/broker1.example.com@EXAMPLE.COM": KerberosName("kafka", "broker1.example.com", "EXAMPLE.COM"),
    "alice": KerberosName("alice"),
    "kafka/broker1": KerberosName("kafka/broker1"),
    "@": KerberosName("", None, ""),
    "/@": KerberosName("", "", ""),
    "": KerberosName(""),
}


@pytest.mark.parametrize("text", NAMES)
def test_a_name_in_its_parts(text: str) -> None:
    assert KerberosName.parse(text) == NAMES[text]
    assert str(NAMES[text]) == text


@pytest.mark.parametrize("text", ["a/b/c@R", "alice@A@B", "a@b/c"])
def test_a_name_with_more_parts_is_malformed(text: str) -> None:
    with pytest.raises(ValueError, match=f"Malformed Kerberos name: {text}"):
        KerberosName.parse(text)
