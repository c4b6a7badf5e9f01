"""Statements about what a version of Kafka does have their places in Kafka's source, see ``chapters/claims.toml``."""

import re
from collections.abc import Iterator

from kafka_learn.claims import PlacedClaim, named_only, placed_claims, statements, without_place
from kafka_learn.project import PROJECT_ROOT


def test_every_statement_about_a_version_of_kafka_has_its_place() -> None:
    found = [f"{page}: {statement[:150]}" for page, statement in without_place()]
    assert found == [], "note the place of each in Kafka's source in chapters/claims.toml"


def test_a_statement_without_a_place_is_on_its_page_and_has_a_reason() -> None:
    rows = named_only()
    assert [row for row in rows if not row.why or not is_stated(row.page, row.en)] == []
    placed = {(claim.page, claim.en) for claim in placed_claims()}
    assert [row for row in rows if (row.page, row.en) in placed] == []


def test_the_words_of_every_place_are_on_both_pages() -> None:
    assert [f"{claim.page}: {words}" for claim in placed_claims() for words in missing_words(claim)] == []


def missing_words(claim: PlacedClaim) -> Iterator[str]:
    if not is_stated(claim.page, claim.en):
        yield claim.en
    twin = (PROJECT_ROOT / claim.page).with_suffix(".zh.md")
    if twin.exists() and (not claim.zh or claim.zh not in joined(twin.read_text(encoding="utf-8"))):
        yield claim.zh or f"no Chinese words for: {claim.en}"


def is_stated(page: str, words: str) -> bool:
    """Whether a statement of the page has the words."""
    text = (PROJECT_ROOT / page).read_text(encoding="utf-8")
    return any(words in statement for statement in statements(text))


def joined(chinese: str) -> str:
    """A Chinese page with its lines joined as its paragraphs are."""
    return re.sub(r"(?<=[^\x00-\x7f])\n(?=[^\x00-\x7f])", "", chinese).replace("\n", " ")
