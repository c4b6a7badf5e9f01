from pathlib import PurePosixPath

import pytest

from kafka_learn.project import PROJECT_ROOT
from kafka_learn.site.glossary import glossary, terms, with_links

PAGE = PurePosixPath("book/ch06_storage/page.md")
ENGLISH = """\
# A tombstone in a title

A tombstone, and `tombstone` in code, and [a tombstone
of a link](x.md). Tombstones again.

| tombstone | cell |
|---|---|

```text
page cache
```

- The high
  watermark of a [page](page.md), a leader of anything.
"""
CHINESE = "# 墓碑\n\n这个墓碑在 broker 上，`墓碑`，再一个墓碑。\n"


def links(text: str, language: str = "en", page: PurePosixPath = PAGE) -> list[str]:
    """The lines of ``text`` that linking changes."""
    changed = with_links(text, page, language)
    return [new for old, new in zip(text.splitlines(), changed.splitlines(), strict=True) if old != new]


def test_the_first_occurrence_in_running_text_leads_to_the_glossary() -> None:
    first, *second = links(ENGLISH)
    assert first.startswith('A [tombstone](../glossary.md#tombstone "A record with a key and no value.')
    assert first.count("glossary.md") == 1
    assert "\n".join(second).startswith("- The [high\n  watermark](../glossary.md#high-watermark")


def test_a_word_of_two_terms_leads_nowhere() -> None:
    assert "#leader" not in with_links(ENGLISH, PAGE, "en")


def test_chinese_words_need_no_spaces_around_them() -> None:
    (line,) = links(CHINESE, "zh")
    assert line.startswith("这个[墓碑](../glossary.md#tombstone ")
    assert "在 [broker](../glossary.md#broker " in line
    assert line.endswith("再一个墓碑。")


@pytest.mark.parametrize("name", ["index.md", "index.zh.md", "book/glossary.md", "book/glossary.zh.md"])
def test_the_home_page_and_the_glossary_have_no_such_links(name: str) -> None:
    assert links(ENGLISH, page=PurePosixPath(name)) == []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_term_has_an_entry_that_defines_it_and_leads_on(language: str) -> None:
    page = glossary(language)
    for term in terms():
        assert f"{{ #{term.anchor} }}\n\n{term.what(language)}\n" in page
        assert term.what(language).endswith("。" if language == "zh" else ".")
    assert "](ch06_storage/timing-wheels.md)" in page
    assert len({term.anchor for term in terms()}) == len(terms())


def test_every_page_that_explains_a_term_exists_in_both_languages() -> None:
    pages = {term.page.replace("book/", "chapters/", 1) for term in terms() if term.page}
    missing = [page for page in pages for end in (".md", ".zh.md") if not (PROJECT_ROOT / (page + end)).is_file()]
    assert missing == []
