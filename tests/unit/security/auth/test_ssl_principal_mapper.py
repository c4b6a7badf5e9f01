from __future__ import annotations

import pytest

from kafka_lite.common.errors import KafkaError
from kafka_lite.security.auth.ssl_principal_mapper import NoMatchingRuleError, SslPrincipalMapper
from tests.support.kafka_security_samples import accepted, refused

NAME = "CN=alice,OU=Sales,C=DE"


@pytest.mark.parametrize(("given", "name"), accepted("principal_mapping"))
def test_a_name_is_mapped_as_kafka_maps_it(given: list[str], name: str) -> None:
    rules, distinguished_name = given
    assert SslPrincipalMapper(rules).name(distinguished_name) == name


@pytest.mark.parametrize("given", refused("principal_mapping"))
def test_rules_and_names_that_kafka_refuses_are_refused(given: list[str]) -> None:
    rules, distinguished_name = given
    with pytest.raises((KafkaError, ValueError)):
        SslPrincipalMapper(rules).name(distinguished_name)


@pytest.mark.parametrize("rules", ["nonsense", "RULE:^CN=(.*?),.*$/$1/X", "RULE:^CN=(.*?),.*$/$1"])
def test_a_text_that_is_no_rule_is_refused_with_the_form(rules: str) -> None:
    with pytest.raises(ValueError, match="RULE:pattern/replacement/"):
        SslPrincipalMapper(rules)


@pytest.mark.parametrize("rule", ["RULE:(/x/", "RULE:CN=.*/$1/", "RULE:CN=(.*)/${name}/"])
def test_a_bad_pattern_or_replacement_is_found_at_the_start_and_not_by_the_first_client(rule: str) -> None:
    with pytest.raises(KafkaError):
        SslPrincipalMapper(rule)


def test_several_unknown_groups_are_literal() -> None:
    assert SslPrincipalMapper("RULE:CN=(.*?),.*/$1 $2 $3/").name(NAME) == "alice $2 $3"


def test_no_matching_rule_names_the_rules() -> None:
    with pytest.raises(NoMatchingRuleError, match=r"CN=alice.*RULE:\^CN=bob\$/bob/L"):
        SslPrincipalMapper("RULE:^CN=bob$/bob/L").name(NAME)
