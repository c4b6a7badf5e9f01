"""The site's sitemap.xml names pages by their full address, or none if the address is not known."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest
from jinja2 import Environment, FileSystemLoader

from kafka_learn.project import PROJECT_ROOT

NAMES = {"": "http://www.sitemaps.org/schemas/sitemap/0.9", "xhtml": "http://www.w3.org/1999/xhtml"}


def page(url: str | None) -> Any:
    return SimpleNamespace(page=SimpleNamespace(canonical_url=url), alternates={})


def sitemap(site_url: str, *files: Any) -> ElementTree.Element:
    environment = Environment(loader=FileSystemLoader(PROJECT_ROOT / "kafka_learn" / "site" / "theme"))
    alternates = {"en": list(files[:1]), "zh": list(files[1:])}
    text = environment.get_template("sitemap.xml").render(
        config=SimpleNamespace(site_url=site_url), i18n_alternates=alternates
    )
    return ElementTree.fromstring(text)


def test_pages_of_all_languages_are_listed_with_their_counterparts() -> None:
    english, chinese = page("https://example.com/a/"), page("https://example.com/zh/a/?b&c")
    english.alternates = chinese.alternates = {"en": english, "zh": chinese}
    root = sitemap("https://example.com/", english, chinese)
    urls = root.findall("url", NAMES)
    assert [url.findtext("loc", None, NAMES) for url in urls] == [
        "https://example.com/a/",
        "https://example.com/zh/a/?b&c",
    ]
    for url in urls:
        links = {link.get("hreflang"): link.get("href") for link in url.findall("xhtml:link", NAMES)}
        assert links == {"en": "https://example.com/a/", "zh": "https://example.com/zh/a/?b&c"}


@pytest.mark.parametrize("site_url", ["", None])
def test_without_an_address_the_sitemap_is_empty(site_url: Any) -> None:
    assert list(sitemap(site_url, page(None), page(None))) == []
