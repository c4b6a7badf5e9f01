import pytest

from kafka_learn.site.link_check import check


@pytest.fixture
def site(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "x.css").write_text("body { color: red }")
    (tmp_path / "a" / "index.html").write_text('<h1 id="top">A</h1><a href="../">home</a>')
    (tmp_path / "index.html").write_text(
        '<link rel="stylesheet" href="assets/x.css"><a href="a/#top">a</a> <a href="https://kafka.apache.org/">out</a>'
    )
    return tmp_path


def add(site, html):
    page = site / "index.html"
    page.write_text(page.read_text() + html)


def test_a_valid_site_has_no_problems(site):
    assert check(site) == []


@pytest.mark.parametrize(
    ("html", "problem"),
    [
        ('<a href="b/">b</a>', "dead link b/"),
        ('<a href="a/#bottom">b</a>', "dead anchor a/#bottom"),
        ('<a href="/nowhere.html">b</a>', "dead link /nowhere.html"),
        ('<img src="assets/no.png">', "dead link assets/no.png"),
        ('<link rel="alternate" href="a/">', "dead link a/sitemap.xml"),
        ('<link rel="alternate" href="../zh/a/">', "dead link ../zh/a/sitemap.xml"),
        (
            '<script id="__config" type="application/json">{"base": "a", "search": "assets/x.css"}</script>',
            "dead link a/search/search_index.json",
        ),
        ('<script src="https://unpkg.com/x.js"></script>', "loads https://unpkg.com/x.js from another host"),
        ('<script src="//cdn.example/x.js"></script>', "loads //cdn.example/x.js from another host"),
        (
            '<link rel="preconnect" href="https://fonts.gstatic.com">',
            "loads https://fonts.gstatic.com from another host",
        ),
        (
            "<style>@import 'https://fonts.example/f.css';</style>",
            "loads https://fonts.example/f.css from another host",
        ),
        (
            '<div style="background: url(https://example.com/x.png)">',
            "loads https://example.com/x.png from another host",
        ),
    ],
)
def test_each_problem_is_named(site, html, problem):
    add(site, html)
    assert check(site) == [f"index.html: {problem}"]


def test_stylesheets_are_checked_too(site):
    (site / "assets" / "x.css").write_text("@font-face { src: url(https://fonts.example/f.woff2) }")
    assert check(site) == ["assets/x.css: loads https://fonts.example/f.woff2 from another host"]


def test_a_missing_file_of_a_stylesheet_is_a_problem(site):
    (site / "assets" / "x.css").write_text("a { background: url(no.png) } b { background: url(x.css), url(data:,) }")
    assert check(site) == ["assets/x.css: dead link no.png"]


def test_only_the_link_relation_sitemap_asks_for_a_sitemap(site):
    add(site, '<link rel="alternate " hreflang="zh" href="a/">')
    assert check(site) == []


def test_absolute_links_of_a_published_site_begin_with_its_path(site):
    add(site, '<a href="/kafka_lite/a/#top">a</a><img src="/assets/x.css">')
    assert check(site, "https://me.github.io/kafka_lite/") == ["index.html: dead link /assets/x.css"]


def test_an_empty_site_is_a_problem(tmp_path):
    assert len(check(tmp_path)) == 1
