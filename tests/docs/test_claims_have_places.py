"""Statements about what a version of Kafka does have their places in Kafka's source, see ``chapters/claims.toml``."""

import re
from collections.abc import Iterator

from kafka_learn.claims import PlacedClaim, placed_claims, statements, without_place
from kafka_learn.project import PROJECT_ROOT

WITHOUT_PLACE = 110
"""How many statements have no place yet: lower it whenever you find the place of one, never raise it."""


def test_every_new_statement_about_a_version_of_kafka_has_its_place() -> None:
    found = [f"{page}: {statement[:150]}" for page, statement in without_place()]
    assert len(found) <= WITHOUT_PLACE, (
        f"{len(found)} statements have no place in Kafka's source, {WITHOUT_PLACE} are allowed. Note the place of "
        "yours in chapters/claims.toml. They are:\n" + "\n".join(found)
    )


def test_the_words_of_every_place_are_on_both_pages() -> None:
    assert [f"{claim.page}: {words}" for claim in placed_claims() for words in missing_words(claim)] == []


def missing_words(claim: PlacedClaim) -> Iterator[str]:
    text = (PROJECT_ROOT / claim.page).read_text(encoding="utf-8")
    if not any(claim.en in statement for statement in statements(text)):
        yield claim.en
    twin = (PROJECT_ROOT / claim.page).with_suffix(".zh.md")
    if twin.exists() and (not claim.zh or claim.zh not in joined(twin.read_text(encoding="utf-8"))):
        yield claim.zh or f"no Chinese words for: {claim.en}"


def joined(chinese: str) -> str:
    """A Chinese page with its lines joined as its paragraphs are."""
    return re.sub(r"(?<=[^\x00-\x7f])\n(?=[^\x00-\x7f])", "", chinese).replace("\n", " ")
