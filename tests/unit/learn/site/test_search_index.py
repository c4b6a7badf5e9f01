import json
import re
from pathlib import Path
from typing import Any

from kafka_learn.site.glossary import Term
from kafka_learn.site.search_index import divided, on_page_content, on_post_build, write

TERMS = (
    Term("timing wheel", "时间轮", "A ring.", "环。", "book/ch06/wheels"),
    Term("hash", "散列", "A number.", "数。"),
    Term("batch", "批次", "Records.", "记录。", "book/ch02/sending"),
    Term("header of a batch", "批次头", "Fields.", "字段。"),
)


def doc(location: str, text: str = "", title: str = "") -> dict[str, str]:
    return {"location": location, "title": title, "text": text}


INDEX: dict[str, Any] = {
    "config": {"lang": ["en", "zh"], "separator": "[ \u200b]+"},
    "docs": [
        doc("book/ch06/wheels/", "<p>ring</p><pre>def add</pre>", "Wheels"),
        doc("book/glossary/#hash"),
        doc("book/glossary/#header-of-a-batch"),
        doc("book/ch02/sending/"),
        doc("zh/book/ch06/wheels/", "\u200b时间\u200b轮\u200b转\u200b", "时间\u200b轮"),
    ],
}


def documents(language: str) -> dict[str, dict[str, object]]:
    return {each["location"]: each for each in divided(INDEX, TERMS)[language]["docs"]}


def test_each_language_has_an_index_of_its_own_pages() -> None:
    assert list(documents("zh")) == ["zh/book/ch06/wheels/"]
    assert len(documents("en")) == 4
    assert [divided(INDEX, TERMS)[language]["config"]["lang"] for language in ("en", "zh")] == [["en"], ["en", "zh"]]


def test_a_chinese_term_is_one_word_wherever_it_was_cut() -> None:
    found = documents("zh")["zh/book/ch06/wheels/"]
    assert found["text"] == "\u200b时间轮\u200b转\u200b"
    assert str(found["title"]).strip("\u200b") == "时间轮"


def test_the_page_that_explains_a_term_has_it_as_a_tag_or_else_its_entry_in_the_glossary() -> None:
    tags = {location: found.get("tags") for location, found in documents("en").items()}
    assert tags == {
        "book/ch06/wheels/": ["timing wheel"],
        "book/glossary/#hash": ["hash"],
        "book/glossary/#header-of-a-batch": ["header of a batch"],
        "book/ch02/sending/": ["batch"],
    }
    assert documents("zh")["zh/book/ch06/wheels/"]["tags"] == ["时间轮", "timing wheel"]


def test_sections_and_words_within_other_terms_weigh_more() -> None:
    boosts = {location: found.get("boost") for location, found in documents("en").items()}
    assert list(boosts.values()) == [1.0, 2.0, 2.0, 1.5]


def words(text: str, language: str) -> list[str]:
    separator = str(divided(INDEX, TERMS)[language]["config"]["separator"])
    return [word for word in re.split(separator, text) if word]


def test_punctuation_and_chinese_words_of_one_character_are_no_words() -> None:
    assert words("缓冲池\u200b里\u200b的\u200b内存\u200b，\u200b再\u200b等待", "zh") == ["缓冲池", "内存", "等待"]
    assert words("produce → append · done", "en") == ["produce", "append", "done"]


def test_what_stands_on_many_pages_is_found_on_none() -> None:
    intro, own = "<p>Write <code>None</code> first.</p>", "<p>The wheel turns.</p>"
    docs = [doc(f"page-{number}/", f"{intro} {own if number == 0 else ''}") for number in range(5)]
    texts = [each["text"].strip() for each in divided({**INDEX, "docs": docs}, TERMS)["en"]["docs"]]
    assert texts == [own, "", "", "", ""]


def test_tables_of_other_pages_titles_are_left_out() -> None:
    table = "2.1.1 Sending <code>producer.sender</code> 30 minutes <p>For a weekend.</p> 2.1.2 Selecting"
    docs = [doc(f"{page}#part-1", table) for page in ("book/", "book/path/", "zh/book/course/", "book/ch02/sending/")]
    parts = divided({**INDEX, "docs": docs}, TERMS)
    texts = {each["location"]: each["text"] for part in parts.values() for each in part["docs"]}
    assert texts.pop("book/ch02/sending/#part-1") == table
    assert set(texts.values()) == {"<p>For a weekend.</p>"}


def test_the_index_of_classes_has_their_names_and_a_recorded_run_has_no_steps() -> None:
    rows = "<code>Header</code>1.1: api/Header.java <code>connect/headers.py</code>:16 <code>Header</code>"
    steps = "<p>Seen:</p><li>caller → pool: append(A) (caller, 0.20 ms)</li>"
    docs = [doc("book/classes-h-to-p/", rows), doc("book/ch02/", steps)]
    found = divided({**INDEX, "docs": docs}, TERMS)["en"]["docs"]
    assert [each["text"] for each in found] == ["<code>Header</code>", "<p>Seen:</p>"]


def test_code_and_figures_are_not_searched() -> None:
    assert documents("en")["book/ch06/wheels/"]["text"] == "<p>ring</p>"
    assert on_page_content('<figure><svg role="img">') == '<figure><svg data-search-exclude="true" role="img">'


def test_the_pages_load_only_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "search").mkdir()
    path = tmp_path / "search" / "search_index.json"
    path.write_text(json.dumps(INDEX), encoding="utf-8")
    on_post_build({"site_dir": str(tmp_path)})
    assert json.loads(path.read_text(encoding="utf-8")) == {**INDEX, "docs": []}
    english = json.loads((tmp_path / "search" / "en.json").read_text(encoding="utf-8"))
    assert [each["location"] for each in english["docs"]] == [each["location"] for each in INDEX["docs"][:4]]
    write(tmp_path)  # as in a build of one language, before the last
    assert json.loads((tmp_path / "search" / "en.json").read_text(encoding="utf-8"))["docs"] == []
