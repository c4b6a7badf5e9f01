from __future__ import annotations

import pytest

from kafka_lite.common.security.kafka_principal import ANONYMOUS, KafkaPrincipal


@pytest.mark.parametrize(
    ("text", "principal"),
    [
        ("User:alice", KafkaPrincipal("User", "alice")),
        ("User:", KafkaPrincipal("User", "")),
        ("Group:a:b", KafkaPrincipal("Group", "a:b")),
        ("User:CN=alice,O=x", KafkaPrincipal("User", "CN=alice,O=x")),
    ],
)
def test_the_first_colon_separates_type_and_name(text: str, principal: KafkaPrincipal) -> None:
    assert KafkaPrincipal.parse(text) == principal
    assert str(principal) == text


@pytest.mark.parametrize("text", ["", "alice"])
def test_a_text_without_a_type_is_refused_with_the_form(text: str) -> None:
    with pytest.raises(ValueError, match="principalType:principalName"):
        KafkaPrincipal.parse(text)


def test_a_token_proves_the_same_principal() -> None:
    by_token = KafkaPrincipal("User", "alice", token_authenticated=True)

    assert by_token == KafkaPrincipal("User", "alice")
    assert hash(by_token) == hash(KafkaPrincipal("User", "alice"))
    assert by_token != ANONYMOUS
