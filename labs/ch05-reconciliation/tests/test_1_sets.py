"""Task 1: three operations on partitions by topic."""

import pytest

from kafka_lite.coordinator.group.modern import topic_partitions


@pytest.mark.points(5, task=1)
def test_without(topics):
    """without: two topics, of which the other side has one"""
    one, other = topics
    left = topic_partitions.without({one: frozenset({0, 1, 2}), other: frozenset({0})}, {one: frozenset({1, 7})})
    expected = {one: frozenset({0, 2}), other: frozenset({0})}
    assert left == expected, f"0, 1, 2 of one topic without 1 and 7, and 0 of another: {expected}, not {left}"
    left = topic_partitions.without({one: frozenset({0}), other: frozenset({0})}, {one: frozenset({0})})
    assert left == {other: frozenset({0})}, f"nothing is left of the first topic, so it is not in the result: {left}"


@pytest.mark.points(5, task=1)
def test_common(topics):
    """common: two topics, of which the other side has one"""
    one, other = topics
    both = topic_partitions.common({one: frozenset({0, 1, 2}), other: frozenset({0})}, {one: frozenset({1, 7})})
    assert both == {one: frozenset({1})}, f"both have partition 1 of one topic, and nothing of the other; yours: {both}"
    both = topic_partitions.common(dict.fromkeys(topics, frozenset({0})), dict.fromkeys(topics, frozenset({0, 1})))
    assert both == dict.fromkeys(topics, frozenset({0})), f"both have partition 0 of both topics; yours: {both}"


@pytest.mark.points(5, task=1)
def test_union(topics):
    """union: of topics that both have, and that one has"""
    one, other = topics
    first, second = {one: frozenset({0, 1})}, {one: frozenset({1, 2}), other: frozenset({0})}
    merged = topic_partitions.union(first, second)
    expected = {one: frozenset({0, 1, 2}), other: frozenset({0})}
    assert merged == expected, f"0, 1 with 1, 2 of one topic, and 0 of another: {expected}, not {merged}"
    assert first == {one: frozenset({0, 1})}, f"the first argument is part of a member, and may not change: {first}"
    assert topic_partitions.union({one: frozenset({0})}, {}) == {one: frozenset({0})}, "with nothing it stays the same"
