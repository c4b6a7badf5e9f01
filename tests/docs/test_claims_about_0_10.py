"""Claims of pages, docstrings and labs about 0.10.2's broker and consumer defaults, checked against its jars."""

import json
import re
from pathlib import Path

from kafka_lite.server.kafka_config import KAFKA_CONFIG_DEF

ROOT = Path(__file__).parents[2]
SECTIONS = json.loads((ROOT / "tests/data/configs-0.10.2.json").read_text(encoding="utf-8"))
DEFAULTS: dict[str, set[str]] = {}
for section in SECTIONS.values():
    for key, row in section.items():
        DEFAULTS.setdefault(key, set()).add(row["default"].strip("[]"))
CLAIM = re.compile(
    r"(?:as in|like|in|In) (?:Kafka )?0\.10(?:\.2)?\b|0\.10(?:\.2)? (?:had|has|is|是|的默认值)|像 0\.10|与 0\.10"
)
SETTING = re.compile(r"(?<![\w.])([a-z]+(?:\.[a-z]+)*)=([\w-]+)")
TEXTS = [
    path
    for folder, suffixes in (
        ("docs", ("*.md",)), ("chapters", ("*.md", "*.py")), ("labs", ("*.md", "*.py", "*.toml")),
        ("kafka_lite", ("*.py",)), ("kafka_learn", ("*.py",)),
    )
    for suffix in suffixes
    for path in sorted((ROOT / folder).rglob(suffix))
]  # fmt: skip


def wrong_claims(text):
    """Sentences that state a wrong default for a key of 0.10.2, or name a key that does not exist there."""
    for sentence in re.split(r"(?<=[.:;])\s|[。；]|\n\s*\n|\"\"\"", text):
        for key, value in SETTING.findall(sentence) if CLAIM.search(sentence) else ():
            if key in DEFAULTS.keys() | set(KAFKA_CONFIG_DEF.keys) and value not in DEFAULTS.get(key, set()):
                yield f"{key}={value}: {' '.join(sentence.split())[:150]}"


def test_no_text_states_a_wrong_default_of_0_10():
    found = [f"{path.relative_to(ROOT)}: {claim}" for path in TEXTS for claim in wrong_claims(path.read_text("utf-8"))]
    assert not found, "\n".join(found)


def test_the_check_finds_earlier_wrong_claims():
    assert list(wrong_claims('"""group.initial.rebalance.delay.ms=0, as in Kafka 0.10"""'))
    assert list(wrong_claims("In 0.10 it is `message.max.bytes=1048588`."))
    assert not list(wrong_claims("0.10.2 had `message.max.bytes=1000012`, and no `group.initial.rebalance.delay.ms`."))
