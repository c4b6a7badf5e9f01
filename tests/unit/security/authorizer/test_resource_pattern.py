from __future__ import annotations

import pytest

from kafka_lite.security.authorizer.resource_pattern import (
    PatternType,
    ResourcePattern,
    ResourcePatternFilter,
    ResourceType,
    pascal_case,
)

LITERAL, PREFIXED, ANY, MATCH = PatternType.LITERAL, PatternType.PREFIXED, PatternType.ANY, PatternType.MATCH
TOPIC = ResourceType.TOPIC


@pytest.mark.parametrize("text", ["TransactionalId", "TRANSACTIONAL_ID", "transactionalid", "transactional_id"])
def test_a_type_is_found_however_it_is_written(text: str) -> None:
    assert ResourceType.for_name(text) is ResourceType.TRANSACTIONAL_ID


def test_what_is_not_known_is_unknown() -> None:
    assert ResourceType.for_name("Quota") is ResourceType.UNKNOWN
    assert ResourceType.for_code(99) is ResourceType.UNKNOWN
    assert PatternType.for_code(99) is PatternType.UNKNOWN
    assert (ResourceType.for_code(2), PatternType.for_code(4)) == (TOPIC, PREFIXED)
    assert ResourcePattern(ResourceType.UNKNOWN, "x").is_unknown
    assert not ResourcePattern(TOPIC, "x").is_unknown


@pytest.mark.parametrize(
    ("pattern", "name", "applies"),
    [
        (ResourcePattern(TOPIC, "a"), "a", True),
        (ResourcePattern(TOPIC, "a"), "ab", False),
        (ResourcePattern(TOPIC, "*"), "ab", True),
        (ResourcePattern(TOPIC, "a", PREFIXED), "ab", True),
        (ResourcePattern(TOPIC, "a", PREFIXED), "a", True),
        (ResourcePattern(TOPIC, "ab", PREFIXED), "a", False),
        (ResourcePattern(TOPIC, "*", PREFIXED), "ab", False),
    ],
)
def test_a_pattern_applies_to_names(pattern: ResourcePattern, name: str, applies: bool) -> None:
    assert pattern.applies_to(name) is applies


PATTERNS = [
    ResourcePattern(TOPIC, "*"),
    ResourcePattern(TOPIC, "a", PREFIXED),
    ResourcePattern(TOPIC, "ab"),
    ResourcePattern(TOPIC, "ab", PREFIXED),
    ResourcePattern(TOPIC, "b"),
    ResourcePattern(ResourceType.GROUP, "ab"),
]


@pytest.mark.parametrize(
    ("chosen", "indexes"),
    [
        (ResourcePatternFilter(ResourceType.ANY, None, ANY), [0, 1, 2, 3, 4, 5]),
        (ResourcePatternFilter(TOPIC, None, ANY), [0, 1, 2, 3, 4]),
        (ResourcePatternFilter(TOPIC, None, PREFIXED), [1, 3]),
        (ResourcePatternFilter(TOPIC, "ab", LITERAL), [2]),
        (ResourcePatternFilter(TOPIC, "ab", ANY), [2, 3]),
        (ResourcePatternFilter(TOPIC, "ab", MATCH), [0, 1, 2, 3]),
        (ResourcePatternFilter(ResourceType.ANY, "ab", MATCH), [0, 1, 2, 3, 5]),
        (ResourcePatternFilter(TOPIC, "*", LITERAL), [0]),
        (ResourcePatternFilter(TOPIC, "*", MATCH), [0]),
        (ResourcePatternFilter(TOPIC, "c", MATCH), [0]),
    ],
)
def test_a_filter_chooses_patterns(chosen: ResourcePatternFilter, indexes: list[int]) -> None:
    assert [i for i, pattern in enumerate(PATTERNS) if chosen.matches(pattern)] == indexes


def test_a_filter_that_names_all_can_choose_these_only() -> None:
    assert ResourcePatternFilter(TOPIC, "a", ANY).single_patterns == [
        ResourcePattern(TOPIC, "a"),
        ResourcePattern(TOPIC, "a", PREFIXED),
    ]
    assert ResourcePatternFilter(TOPIC, "a", LITERAL).single_patterns == [ResourcePattern(TOPIC, "a")]
    for open_filter in (
        ResourcePatternFilter(TOPIC, "a", MATCH),
        ResourcePatternFilter(TOPIC, None, LITERAL),
        ResourcePatternFilter(ResourceType.ANY, "a", LITERAL),
    ):
        assert open_filter.single_patterns == []


def test_names_are_written_in_pascal_case() -> None:
    assert pascal_case("DELEGATION_TOKEN") == "DelegationToken"
    assert str(ResourcePattern(ResourceType.TRANSACTIONAL_ID, "t", PREFIXED)) == "TransactionalId:PREFIXED:t"
