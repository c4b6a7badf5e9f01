"""The results that leave a cache: for each key some of its results, in order, and always the last one.

Not in Kafka.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kafka_lite.testing.simulation.streams.seen import Content

NOTHING: Sequence[Content] = ()


def wrong_results(found: Iterable[Content], made: Iterable[Content]) -> Iterator[str]:
    """The errors in ``found``, the results that left the cache, given all that were made; both ordered per key."""
    found_of, made_of = _by_key(found), _by_key(made)
    for key in sorted(found_of.keys() | made_of.keys()):
        yield from _wrong_of_one_key(found_of.get(key, NOTHING), made_of.get(key, NOTHING))


def are_last_there(found: Iterable[Content], made: Iterable[Content]) -> bool:
    """Whether the last result of each key was found."""
    found_of = _by_key(found)
    return all(found_of.get(key, NOTHING)[-1:] == results[-1:] for key, results in _by_key(made).items())


def _wrong_of_one_key(found: Sequence[Content], made: Sequence[Content]) -> Iterator[str]:
    later = iter(made)
    for content in found:
        if content not in later:  # this reads on
            yield f"has {content}, which was never due, or is no longer due"
            return
    if found[-1:] != made[-1:]:
        yield f"lacks {made[-1]}, the last result of its key"


def _by_key(contents: Iterable[Content]) -> Mapping[bytes, list[Content]]:
    found: dict[bytes, list[Content]] = defaultdict(list)
    for content in contents:
        found[content.key or b""].append(content)
    return found
