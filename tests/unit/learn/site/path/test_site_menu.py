import re
from types import SimpleNamespace

import pytest

from kafka_learn.labs.lab import all_labs
from kafka_learn.project import PROJECT_ROOT
from kafka_learn.site.path import site_menu
from kafka_learn.site.path.reading_path import reading_path
from kafka_learn.site.path.site_menu import completed, steps
from kafka_lite.book.contents import load_book

WRITTEN = [
    {"Home": "index.md"},
    {"Book": ["book/index.md"]},
    {"Labs": ["labs/index.md"]},
    {"Guides": ["quickstart.md"]},
]
MAX_TABS = 6


def pages(menu):
    """Every path in a menu."""
    for entry in menu:
        inside = next(iter(entry.values())) if isinstance(entry, dict) else entry
        yield from pages(inside) if isinstance(inside, list) else [inside]


def titles(menu):
    """Every title that a menu gives."""
    for entry in menu:
        if isinstance(entry, dict):
            yield next(iter(entry))
            inside = next(iter(entry.values()))
            yield from titles(inside) if isinstance(inside, list) else []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_page_notebook_and_lab_is_in_the_menu_once(language):
    menu = list(pages(completed(WRITTEN, language)))
    sections = load_book().every_section
    files = {file for section in sections for file in (*section.pages, section.notebook)}
    texts = {file for file in files if file.startswith("chapters/")}
    expected = {re.sub("^chapters/", "book/", text).replace(".py", "_notebook.md") for text in texts}
    expected |= {f"labs/{lab.name}.md" for lab in all_labs()}
    assert len(expected) > 100
    assert set(menu) == expected | set(pages(WRITTEN))
    assert len(menu) == len(set(menu))


def test_the_menu_is_in_the_language_of_the_site():
    chinese = list(titles(completed(WRITTEN, "zh")))
    names = {"Home", "Book", "Labs", "Guides"}
    assert [title for title in chinese if title not in names and not re.search(r"[\u4e00-\u9fff]", title)] == []
    assert "偏移量索引" in chinese
    assert "6 存储层" in chinese
    english = list(titles(completed(WRITTEN, "en")))
    assert "The offset index" in english
    assert [title for title in english if re.search(r"[\u4e00-\u9fff]|ch\d\d-|Notebook$", title)] == []


def test_a_notebook_stands_after_all_pages_that_it_belongs_to():
    menu = list(pages(completed(WRITTEN, "en")))
    notebook = menu.index("book/ch02_producer/way_of_a_request_notebook.md")
    assert notebook > menu.index("book/ch02_producer/request-handlers.md")


def test_the_written_menu_has_the_other_pages_of_the_book_and_few_tabs():
    config = (PROJECT_ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    menu = config[config.index("\nnav:\n") : config.index("\nnot_in_nav:")]
    assert len(re.findall(r"^  - ", menu, re.MULTILINE)) <= MAX_TABS
    quick_starts = {section.page for section in load_book().sections if section.page.startswith("docs/")}
    assert quick_starts
    for page in quick_starts:
        assert f"- {page.removeprefix('docs/')}\n" in menu
    for tab in re.findall(r"^  - (\w+):", menu, re.MULTILINE):
        assert re.search(rf"^ +{tab}: [\u4e00-\u9fff]+$", config, re.MULTILINE), f"{tab} has no Chinese title"


def test_previous_and_next_lead_along_the_path():
    path = reading_path()
    found = steps(path)
    assert found["book/ch06_storage/appending.md"][1] == "book/ch06_storage/log-segments.md"
    for stop in path.stops[1:-1]:
        before, after = found[site_menu.uri(stop.page)]
        assert found[before][1] == found[after][0] == site_menu.uri(stop.page)


def test_a_notebook_and_a_lab_lead_back_to_their_page_and_on_to_the_next():
    found = steps(reading_path())
    page = "book/ch06_storage/log-segments.md"
    for detour in ("book/ch06_storage/log_segments_notebook.md", "labs/ch06-offset-index.md"):
        assert found[detour] == (page, found[page][1])


def page_of(uri):
    return SimpleNamespace(file=SimpleNamespace(src_uri=uri), previous_page=None, next_page=None)


def test_the_hook_sets_the_steps_of_chinese_pages_too():
    one, two, other = (page_of(f"{name}.zh.md") for name in ("quickstart", "quickstart-cluster", "install"))
    nav = SimpleNamespace(pages=[two, other, one])
    assert site_menu.on_nav(nav, config=None, files=None) is nav
    assert two.previous_page is one
    assert one.next_page is two
    assert other.previous_page is None


def test_the_hook_completes_the_menu_for_each_language_in_turn():
    i18n = SimpleNamespace(current_language=None)
    config = SimpleNamespace(nav=WRITTEN, extra={}, plugins={"i18n": i18n})
    assert site_menu.on_config(config).nav == completed(WRITTEN, "en")
    i18n.current_language = "zh"
    assert site_menu.on_config(config).nav == completed(WRITTEN, "zh")
