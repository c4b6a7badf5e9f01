"""The built site in a real browser: path, search, recorded runs that play, and what axe and a ruler say of pages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support import axe, chromium
from tests.support.built_site import page_of_the_site

PHONE, DESKTOP = (390, 844), (1280, 800)
RUN_PAGE = "book/ch06_storage/appending/"
KINDS = (
    "", "book/path/", "book/ch07_controller/metadata-cache/", "zh/book/ch01_introduction/replication/",
    "book/ch06_storage/replication_notebook/", "labs/ch06-offset-index/", "live/", "zh/quickstart/",
)  # fmt: skip
"""A page of each kind, a small one: home, path, chapters, a notebook, a lab, the live cluster, a guide."""
WIDEST = ("book/ch07_controller/state-machines/", "zh/book/ch09_streams/threads/", "reference/cli/")
"""Pages with long lines and many figures."""
SCROLLED_BY_KEYS = "scrollable-region-focusable"
"""On a phone a block of code scrolls sideways. Browsers give such a block the focus by themselves."""
MEASURED = """(() => {
    const cut = [...document.querySelectorAll('article pre > code')]
        .filter(code => code.scrollWidth > code.clientWidth + 1);
    const small = [...document.querySelectorAll('article svg[role] text')].filter(text => text.textContent.trim()
        && parseFloat(getComputedStyle(text).fontSize) * text.ownerSVGElement.getScreenCTM().a < 11.9);
    const page = document.documentElement;
    return [cut.map(code => code.textContent.slice(0, 60)), small.map(text => text.textContent),
            page.scrollWidth - page.clientWidth];
})()"""

pytestmark = [pytest.mark.soak, pytest.mark.timeout(400)]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[chromium.Page]:
    """A page of a browser, at the home of the built site."""
    with page_of_the_site(tmp_path_factory.mktemp("profile")) as page:
        yield page


@pytest.mark.parametrize(
    ("screen", "is_dark", "kinds"),
    [(DESKTOP, False, KINDS), (PHONE, True, KINDS[:3]), (DESKTOP, True, ("live/", "labs/ch06-offset-index/"))],
)
def test_a_page_of_each_kind_can_be_read_by_everyone(
    page: chromium.Page, screen: tuple[int, int], is_dark: bool, kinds: tuple[str, ...]
) -> None:
    page.show_on(*screen, is_dark=is_dark)
    page.load(page.home)
    page.evaluate("localStorage.clear()")  # a page keeps the colours in which it was first seen
    program, problems = axe.script(), {}
    for kind in kinds:
        page.load(page.home + kind)
        assert page.evaluate("document.body.dataset.mdColorScheme") == ("slate" if is_dark else "default")
        problems[kind] = axe.serious_problems(page, program, without=(SCROLLED_BY_KEYS,) if screen == PHONE else ())
    assert problems == {kind: [] for kind in kinds}


@pytest.mark.parametrize(
    ("place", "is_dark"), [("labs/ch06-offset-index/", False), ("zh/labs/ch02-sequence-check/", True)]
)
def test_the_editor_of_a_lab_can_be_used_by_everyone(page: chromium.Page, place: str, is_dark: bool) -> None:
    page.show_on(*DESKTOP, is_dark=is_dark)
    page.load(page.home)
    page.evaluate("localStorage.clear()")
    page.load(f"{page.home}{place}#in-this-page")
    page.until("document.querySelector('.cm-activeLine')?.textContent.includes('your task 1: ')")
    page.click("[data-role=hint]")
    page.click("[data-role=show-difference]")
    assert axe.serious_problems(page, axe.script()) == []
    for screen in (DESKTOP, PHONE):
        page.show_on(*screen, is_dark=is_dark)
        assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0


@pytest.mark.parametrize("screen", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_code_fits_its_column_and_figures_are_large_enough(page: chromium.Page, screen: tuple[int, int]) -> None:
    page.show_on(*screen)
    for place in (*WIDEST, RUN_PAGE):
        page.load(page.home + place)
        cut, small, sideways = page.evaluate(MEASURED)
        assert (small, sideways) == ([], 0), place
        assert screen == PHONE or cut == [], place


def test_a_reader_goes_along_the_path_and_is_remembered(page: chromium.Page) -> None:
    page.show_on(*DESKTOP)
    page.load(f"{page.home}book/path/")
    first = page.evaluate("document.querySelector('a[data-stop]').href")
    page.load(first)
    title = page.evaluate("document.querySelector('h1').firstChild.textContent.trim()")
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    page.until("Object.keys(JSON.parse(localStorage.getItem('kafka_lite.path')).read).length > 0")
    following = page.evaluate("document.querySelector('.md-footer__link--next').href")
    assert following != first
    page.load(page.home)
    page.until("document.querySelector('.reading-place a')")
    assert page.evaluate("document.querySelector('.reading-place a').textContent") == title


@pytest.mark.parametrize(
    ("home", "query", "found"),
    [("", "high watermark", "/book/ch06_storage/"), ("zh/", "再平衡", "/zh/book/"), ("zh/", "时间轮", "timing-wheels")],
)
def test_the_search_finds_a_term_as_one_types_it(page: chromium.Page, home: str, query: str, found: str) -> None:
    page.show_on(*DESKTOP)
    page.load(page.home + home)
    page.evaluate("document.querySelector('.md-search__input').focus()")
    page.write(query)
    page.until("document.querySelector('.md-search-result__link')")
    assert found in page.evaluate("document.querySelector('.md-search-result__link').href")


def test_the_field_of_the_class_index_searches_all_of_its_pages(page: chromium.Page) -> None:
    page.show_on(*DESKTOP)
    page.load(f"{page.home}zh/book/classes/")
    page.evaluate("document.querySelector('.class-index input').focus()")
    page.write("RecordAccumulator")
    page.until("document.querySelector('.class-index tbody tr:not([hidden])')")
    assert "RecordAccumulator" in page.evaluate(
        "document.querySelector('.class-index tbody tr:not([hidden])').textContent"
    )
    assert page.evaluate("document.querySelector('.class-index tbody tr:not([hidden]) a').href").startswith(
        f"{page.home}zh/book/ch02_producer/"
    )


@pytest.mark.parametrize("screen", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_a_recorded_run_plays_step_by_step_by_its_buttons_and_keys(
    page: chromium.Page, screen: tuple[int, int]
) -> None:
    page.show_on(*screen)
    page.load(page.home + RUN_PAGE)
    page.until("document.querySelector('.recorded-run [data-role=slider]')")
    count = page.evaluate("document.querySelectorAll('.recorded-run svg')[1].querySelectorAll('[data-step]').length")
    assert _said(page) == f"0 of {count}"
    for _ in range(2):
        page.click(".recorded-run [data-role=next]")
    assert _said(page) == f"2 of {count}"
    words = page.evaluate("document.querySelector('.recorded-run__words').textContent")
    title = "document.querySelector('.recorded-run .is-now title').textContent"
    assert page.evaluate(title) == f"2. {words}"
    assert page.evaluate("document.querySelector('.recorded-run__line a').href").endswith(
        page.evaluate("document.querySelector('.recorded-run__line a').textContent").rpartition(":")[2]
    )
    page.evaluate("document.querySelector('.recorded-run__body').focus()")
    page.press("End")
    assert _said(page) == f"{count} of {count}"
    assert page.evaluate("document.querySelector('.recorded-run__state').children.length") > 0
    page.press("ArrowLeft")
    assert _said(page) == f"{count - 1} of {count}"
    heads = page.evaluate("document.querySelector('.recorded-run__heads').getBoundingClientRect().top")
    assert 0 <= heads < 100, "the names of the lanes stay in sight"
    page.press("Escape")
    assert _said(page) == f"0 of {count}"
    page.click(".recorded-run [data-lane='0']")
    assert int(_said(page).rpartition(" ")[2]) < count
    page.click(".recorded-run [data-role=play]")
    page.until("document.querySelector('.recorded-run output').value.startsWith('2 ')")


def _said(page: chromium.Page) -> str:
    text = page.evaluate("document.querySelector('.recorded-run output').value")
    assert isinstance(text, str)
    return text
