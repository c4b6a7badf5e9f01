from kafka_lite.common.lru_cache import LRUCache


def test_what_was_not_used_for_longest_is_dropped() -> None:
    cache, made = LRUCache[str, str](2), []

    def get(key: str) -> str:
        return cache.get(key, lambda: made.append(key) or key.upper())  # type: ignore[func-returns-value]

    assert [get(key) for key in ("a", "b", "a", "c", "a", "b")] == ["A", "B", "A", "C", "A", "B"]
    assert made == ["a", "b", "c", "b"]
