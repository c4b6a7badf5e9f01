"""Checks the built pages: none is too large, all that they link to or load exists, nothing is from an outside host."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

PAGE_BYTES = 300_000
"""The size of a page at most, before it is compressed."""
_LOADED = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "embed": "src",
}
_LOADED_LINKS = {"stylesheet", "icon", "preload", "modulepreload", "preconnect", "dns-prefetch", "manifest", "prefetch"}
_CSS_LOADS = re.compile(r"""(?:url\(|@import\s+)\s*['"]?((?:https?:)?//[^'")\s]+)""")
_CSS_URL = re.compile(r"""url\(\s*['"]?(?!data:|#|(?:https?:)?//)([^'")\s]+)""")
_OUTSIDE = re.compile(r"^(?:https?:)?//")


@dataclass
class _BuiltPage(HTMLParser):
    """One page: its anchors, its links, and what a browser loads for it."""

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    _in_style: bool = False
    _in_config: bool = False

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record what the tag names, links to or loads."""
        values = {name: value or "" for name, value in attrs}
        self.anchors.update(value for name, value in values.items() if name in ("id", "name"))
        self._in_style = tag == "style"
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag in _LOADED and _LOADED[tag] in values:
            self.loaded.append(values[_LOADED[tag]])
        if tag == "link" and _LOADED_LINKS & set(values.get("rel", "").split()):
            self.loaded.append(values.get("href", ""))
        if tag == "link" and values.get("rel") == "alternate":
            folder, slash, _ = values.get("href", "").rpartition("/")
            self.loaded.append(f"{folder}{slash}sitemap.xml")  # requested by Material's script
        self._in_config = tag == "script" and values.get("id") == "__config"
        self.loaded += _CSS_LOADS.findall(values.get("style", ""))

    def handle_endtag(self, tag: str) -> None:
        """Detect the end of the configuration script."""
        self._in_config = self._in_config and tag != "script"

    def handle_data(self, data: str) -> None:
        """Record what an inline stylesheet loads, and what Material's script loads according to its configuration."""
        if self._in_style:
            self.loaded += _CSS_LOADS.findall(data)
        if self._in_config:
            config = json.loads(data)
            asked = (config["search"], f"{config['base'].rstrip('/')}/search/search_index.json")
            self.loaded += [path for path in asked if path]


def check(site: Path, address: str = "") -> list[str]:
    """The problems of the built site, one line each, starting with the page; empty if there are none.

    ``address`` is where the site will be published: absolute links begin with its path.
    """
    base = urlsplit(address).path or "/"
    pages = {path: _read(path) for path in sorted(site.rglob("*.html"))}
    problems = [f"{site}: has no pages"] if not pages else []
    for path, page in pages.items():
        where = path.relative_to(site)
        if (size := path.stat().st_size) > PAGE_BYTES:
            problems.append(f"{where}: has {size:,} bytes, and a page has at most {PAGE_BYTES:,}")
        problems += [f"{where}: loads {url} from another host" for url in page.loaded if _OUTSIDE.match(url)]
        problems += [f"{where}: {problem}" for problem in _dead_links(site, base, path, pages)]
    for sheet in site.rglob("*.css"):
        text, where = sheet.read_text(encoding="utf-8"), sheet.relative_to(site)
        problems += [f"{where}: loads {url} from another host" for url in _CSS_LOADS.findall(text)]
        files = {url: _file_of(site, sheet, unquote(urlsplit(url).path)) for url in _CSS_URL.findall(text)}
        problems += [f"{where}: dead link {url}" for url, file in files.items() if not file.is_file()]
    return problems


def _read(path: Path) -> _BuiltPage:
    page = _BuiltPage()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def _dead_links(site: Path, base: str, path: Path, pages: dict[Path, _BuiltPage]) -> Iterator[str]:
    page = pages[path]
    for link in [*page.links, *page.loaded]:
        url = urlsplit(link)
        if url.scheme or url.netloc:
            continue
        target = _file_of(site, path, unquote(url.path), base)
        if not target.is_file():
            yield f"dead link {link}"
        elif url.fragment and target in pages and unquote(url.fragment) not in pages[target].anchors:
            yield f"dead anchor {link}"


def _file_of(site: Path, path: Path, link: str, base: str = "/") -> Path:
    """The target file of a link on the page at ``path``; a folder means its index page. ``base`` is the site's root."""
    if not link:
        return path
    target = site / link.removeprefix(base) if link.startswith(base) else path.parent / link
    resolved = Path(re.sub(r"/\.(?=/|$)", "", str(target))).resolve()
    return resolved / "index.html" if resolved.is_dir() else resolved
