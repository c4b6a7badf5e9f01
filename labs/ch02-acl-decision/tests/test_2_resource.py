"""Task 2: the entries of a resource."""

import pytest

from kafka_lite.security.authorizer.resource_pattern import ResourceType

TOPIC = ResourceType.TOPIC


def users(cache, name, resource_type=TOPIC):
    """The names in the entries about a topic."""
    return sorted(entry.principal.removeprefix("User:") for entry in cache.matching(resource_type, name))


@pytest.mark.points(8, task=2)
def test_a_name_and_the_star(cache):
    """Entries for orders, for order and for *"""
    lists = cache(("orders", "a may READ"), ("orders", "b may not WRITE"), ("order", "c may READ"), ("*", "d may READ"))
    assert users(lists, "orders") == ["a", "b", "d"], "those of the name, and those of the literal *"
    assert users(lists, "other") == ["d"], "a name without entries of its own has those of *"
    assert users(lists, "*") == ["d"], "the name * has its entries once"
    assert users(lists, "orders", ResourceType.GROUP) == [], "a group is no topic, whatever its name"
    assert users(cache(), "orders") == [], "there is no entry at all"


@pytest.mark.points(10, task=2)
def test_prefixes(cache):
    """Prefixes of 1, 3, 6 and 9 characters"""
    lists = cache(
        ("o~", "a may READ"), ("ord~", "b may READ"), ("orders~", "c may READ"), ("orders-eu~", "d may READ"),
        ("opq~", "e may READ"), ("ord", "f may READ"),
    )  # fmt: skip
    assert users(lists, "orders") == ["a", "b", "c"], "a name begins with itself: that prefix counts, too"
    assert users(lists, "orders-eu-1") == ["a", "b", "c", "d"], "every prefix of the name counts"
    assert users(lists, "ord") == ["a", "b", "f"], "the literal ord and the prefix ord are two patterns"
    assert users(lists, "x") == [], "no pattern is about x"


@pytest.mark.points(7, task=2)
def test_the_time_does_not_grow_with_the_patterns(cache):
    """5,000 patterns with prefixes of 4 characters"""
    lists = cache(*((f"{number:04d}~", "a may READ") for number in range(5_000)))
    looked_up = []

    class Counting(dict):
        def get(self, key, default=None):
            looked_up.append(key)
            return super().get(key, default)

        def __iter__(self):
            raise AssertionError("do not look at all patterns: look up those that can apply to the name")

        def items(self):
            return iter(self)

        keys = values = items

    lists._acls = Counting(lists._acls)
    assert users(lists, "0042-x") == ["a"], "the prefix 0042 is about it"
    assert len(looked_up) <= 3, f"*, the name and one prefix are three look-ups, not {len(looked_up)}"
    looked_up.clear()
    assert users(lists, "00") == [], "it is shorter than every prefix"
    assert len(looked_up) <= 2, "a prefix that is longer than the name is not about it: no look-up is needed"
