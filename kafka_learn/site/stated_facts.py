"""Facts that pages state from data: the APIs served, what does not exist yet, the map of the repository.

Such a passage stands between two comments, which GitHub does not show; ``make pages`` writes what is between them::

    Not there yet: <!-- missing -->Connect, uReplicator<!-- /missing -->.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from kafka_learn.project import PROJECT_ROOT
from kafka_learn.site.folder_map import folder_map
from kafka_lite.protocol.api_keys import API_SPECS, ApiKey, api_name
from kafka_lite.server.kafka_apis import SERVED_VERSIONS

_BETWEEN_BROKERS = (
    ApiKey.LEADER_AND_ISR,
    ApiKey.STOP_REPLICA,
    ApiKey.UPDATE_METADATA,
    ApiKey.CONTROLLED_SHUTDOWN,
    ApiKey.WRITE_TXN_MARKERS,
)
_PASSAGE = re.compile(r"(?P<begin><!-- (?P<name>[\w-]+) -->)(?P<fact>.*?)(?P<end><!-- /(?P=name) -->)", re.DOTALL)
_NOT_YET = ": not yet"


@dataclass(frozen=True)
class Missing:
    """A part of Kafka that is not there yet.

    ``reason`` is that of its classes in ``chapters/classes.toml``. A part without classes of the book is missing while
    no API of this ``key`` is served, or ``api`` is not served in version ``version``.
    """

    en: str
    zh: str
    reason: str = ""
    api: ApiKey = ApiKey.FETCH
    version: int = 0
    key: int = -1
    """Of an API that may have no name here yet."""

    def holds(self, reasons: Iterable[str]) -> bool:
        """Whether it is still missing."""
        if self.reason:
            return self.reason + _NOT_YET in reasons
        if self.key >= 0:
            return self.key not in map(int, SERVED_VERSIONS)
        return self.api not in SERVED_VERSIONS or SERVED_VERSIONS[self.api].max_version < self.version


PARTS = (
    Missing("Connect", "Connect", "chapter 8, Connect"),
    Missing("uReplicator", "uReplicator", "chapter 8, uReplicator"),
    Missing("groups of Streams (KIP-1071)", "Streams 组（KIP-1071）", key=88),
)


def reasons_not_yet(root: Path = PROJECT_ROOT) -> list[str]:
    """The reasons in ``chapters/classes.toml`` that call a class missing, rather than needless."""
    classes = tomllib.loads((root / "chapters" / "classes.toml").read_text(encoding="utf-8"))
    return [reason for reason in classes["without_a_room"] if reason.endswith(_NOT_YET)]


def missing(language: str) -> str:
    """The parts that do not exist yet, as the end of a sentence."""
    reasons = reasons_not_yet()
    names = [part.zh if language == "zh" else part.en for part in PARTS if part.holds(reasons)]
    return ("、" if language == "zh" else "; ").join(names)


def served_to_clients(language: str) -> str:
    """The APIs that the broker serves to clients, in the order of their keys."""
    keys = (key for key in sorted(SERVED_VERSIONS) if key not in _BETWEEN_BROKERS)
    return ("、" if language == "zh" else ", ").join(map(api_name, keys))


def served_to_brokers(language: str) -> str:
    """The APIs that it serves to other brokers."""
    keys = (key for key in _BETWEEN_BROKERS if key in SERVED_VERSIONS)
    return ("、" if language == "zh" else ", ").join(map(api_name, keys))


def known_to_the_codecs(language: str) -> str:
    """The keys of all APIs that the codecs know, as ranges: ``0–51, 60``."""
    ranges: list[list[int]] = []
    for key in sorted(API_SPECS):
        if ranges and ranges[-1][-1] == key - 1:
            ranges[-1][1:] = [key]
        else:
            ranges.append([key])
    return ("、" if language == "zh" else ", ").join("–".join(map(str, each)) for each in ranges)


FACTS: dict[str, Callable[[str], str]] = {
    "missing": missing,
    "client-apis": served_to_clients,
    "broker-apis": served_to_brokers,
    "codec-apis": known_to_the_codecs,
    "map": folder_map,
}


def _letters(text: str) -> str:
    return "".join(text.split())


def with_facts(text: str) -> str:
    """A page with every such passage as it should be; names that end in ``-zh`` are those of the Chinese ones."""

    def _stated(passage: re.Match[str]) -> str:
        name = passage["name"].removesuffix("-zh")
        if name not in FACTS:
            return passage[0]
        fact = FACTS[name]("zh" if passage["name"].endswith("-zh") else "en")
        is_stated = _letters(passage["fact"]) == _letters(fact)  # maybe on several lines
        return passage[0] if is_stated else passage["begin"] + fact + passage["end"]

    return _PASSAGE.sub(_stated, text)
