"""Task 5: an application counts, with your code and a real broker."""

import pytest

from kafka_learn.labs.applications import Application
from kafka_learn.labs.clients import create_topic, publish
from kafka_lite.common.serdes import StringSerde
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder

NEVER = 1_000_000_000
SERDES = {"key.serde": StringSerde, "value.serde": StringSerde, "commit.interval.ms": NEVER}
KEYS = [f"k{number % 20}" for number in range(500)]


@pytest.fixture
def changelog(broker, tmp_path):
    """``changelog("name", keys, cache_bytes, read)``: count the keys, commit at the end, return the changelog.

    ``read`` is how many records it must have; what comes behind them is returned, too.
    """
    created = {}

    def run(name, keys, cache_bytes, read):
        if name not in created:
            created[name] = 0
            create_topic(broker, f"{name}-in")
            create_topic(broker, f"{name}-seen")
        created[name] += len(keys)
        builder = KStreamBuilder()
        stream = builder.stream(f"{name}-in")
        stream.to(f"{name}-seen")
        stream.group_by_key().count("Counts")
        configs = {**SERDES, "cache.max.bytes.buffering": cache_bytes}
        with Application(broker, builder, tmp_path, f"cache-{name}", **configs) as application:
            publish(
                broker, 0, len(keys), lambda n: {"key": keys[n], "value": "v", "timestamp": 1000}, topic=f"{name}-in"
            )
            application.output(f"{name}-seen", created[name])
        found = application.output(f"cache-{name}-Counts-changelog", read)
        return [(key.decode(), int.from_bytes(value)) for key, value in found]

    return run


@pytest.mark.points(5, task=5)
def test_a_large_cache(changelog):
    """Five hundred changes, twenty records"""
    found = changelog("large", KEYS, 1_000_000, 20)
    assert found == [(key, 25) for key in KEYS[:20]], f"one record for each key, with its last count; yours: {found}"


@pytest.mark.points(5, task=5)
def test_no_cache(changelog):
    """Five hundred changes, five hundred records"""
    found = changelog("none", KEYS, 0, 500)
    assert len(found) == 500, f"without a cache every change is logged; yours logged {len(found)}"
    assert dict(found) == dict.fromkeys(KEYS, 25)


@pytest.mark.points(5, task=5)
def test_a_restart(changelog):
    """What was in the cache was flushed when the application closed"""
    changelog("restart", KEYS, 1_000_000, 20)
    found = changelog("restart", KEYS[:20], 1_000_000, 40)
    assert found[20:] == [(key, 26) for key in KEYS[:20]], (
        f"25 of each key were restored, and one came; after a restart yours logged {found[20:]}"
    )
