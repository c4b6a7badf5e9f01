"""Directives: comments in the site's pages that are expanded during the build.

::

    <!-- source kafka_lite.log.offset_index:OffsetIndex.lookup docstring=no -->
    <!-- source kafka_lite.log.offset_index:OffsetIndex only=append,lookup bodies=no -->
    <!-- source chapters/ch09_streams/five_systems/StormWordCount.java:trident -->
    <!-- figure chapters.ch06_storage.figures.segment_drawings:offset_index -->
    <!-- generated kafka_learn.site.reference:labs -->
    <!-- recording chapters.ch02_producer.figures.request_runs:produce_request lanes=producer,Log -->
    <!-- live leader-dies -->

``source`` shows code by symbol (of Java: a class or a method) with a link to the whole file, ``figure`` calls a
function that returns SVG, ``generated`` one that returns Markdown; both functions take the page's language.
``recording`` draws a recorded run as a ``sequence`` diagram (options: ``lanes``, ``by``, ``hide``, ``returns``) or as
a ``time-line`` (``hide``, ``threads``), followed by the steps in words in a collapsible block, unless ``words=no``.
``live`` leads to the live cluster in the state of a scenario (``chapters/live.toml``).
With ``seed=1`` the run is recorded in the simulated world of that seed, and is the same in every build.

The line below a directive is its note (``notes.py``): GitHub, which shows no comment, shows the note with a link to the
code, and the caption of a figure. The site shows the code or the figure in place of both lines.
Error messages name the page and the line.
"""

from __future__ import annotations

import html
import importlib
import posixpath
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from kafka_learn.drawing.run_words import word
from kafka_learn.drawing.sequence_diagram import SequenceDiagram, sequence_diagram
from kafka_learn.drawing.time_line import TimeLine, time_line
from kafka_learn.java_source import SUFFIX as JAVA
from kafka_learn.java_source import JavaSymbol, find_java_symbol
from kafka_learn.live.scenarios import scenarios
from kafka_learn.recording.recorded_run import RecordedRun, thread_names
from kafka_learn.recording.run_store import recorded_run
from kafka_learn.site.badges import badge_of_module
from kafka_learn.site.live_scenarios import live_scenario
from kafka_learn.site.notes import DIRECTIVE, caption_of, has_note
from kafka_learn.site.repository_markdown import (
    FENCE,
    NotOnTheSiteError,
    for_mkdocs,
    repository_path,
    site_page,
    with_links,
)
from kafka_learn.source import SourceSymbol, UnknownSymbolError, find_symbol, module_docstring, render


class DirectiveError(Exception):
    """A directive cannot be expanded: ``page:line: reason``."""


@dataclass
class Page:
    """The page being expanded.

    ``origin`` is its file in the repository (for messages), ``target`` its place in the site's source tree (for
    relative links); ``sources`` collects the modules, and paths of Java files, that it links to.
    """

    origin: str
    target: PurePosixPath
    language: str = "en"
    sources: set[str] = field(default_factory=set)

    def link(self, target: str) -> str:
        """``target``, a path from the root of the site's source tree, relative to this page."""
        return "../" * (len(self.target.parts) - 1) + target

    def address(self, target: str) -> str:
        """The same for HTML, in which mkdocs translates no links: a page is a folder on the site."""
        depth = len(self.target.parts) - (self.target.name.partition(".")[0] == "index")
        return "../" * depth + target

    def on_the_site(self, link: str) -> str:
        """A link between files of the repository as a link between pages of the site.

        Raises NotOnTheSiteError if the site does not show the file.
        """
        path = repository_path(self.origin, link)
        page = site_page(path)
        if page is None and path.endswith((".py", JAVA)):
            self.sources.add(path if path.endswith(JAVA) else path.removesuffix(".py").replace("/", "."))
            page = source_page(path)
        if page is None:
            raise NotOnTheSiteError(f"{link} leads to {path}, which the site does not show")
        return posixpath.relpath(page.as_posix(), self.target.parent.as_posix())


def source_page(path: str) -> PurePosixPath:
    """The place in the site's source tree of the page that shows a whole file of source."""
    return PurePosixPath("source", path).with_suffix(".md")


@dataclass(frozen=True)
class Directive:
    """One directive: its verb, reference and options, and the caption of a figure or run."""

    verb: str
    reference: str
    options: dict[str, str]
    caption: str = ""

    @classmethod
    def parse(cls, spec: str, caption: str = "") -> Directive:
        """Parse the text of the comment; the caption stands in its note. Raises ValueError if it is malformed."""
        verb, reference, *rest = shlex.split(spec)
        pairs = [word.partition("=") for word in rest]
        malformed = [name for name, equals, _ in pairs if not equals]
        if malformed:
            raise ValueError(f"{malformed[0]!r} is not of the form option=value")
        return cls(verb, reference, {name: value for name, _, value in pairs}, caption)

    def flag(self, name: str) -> bool:
        """A yes/no option; defaults to yes."""
        value = self.options.get(name, "yes")
        if value not in ("yes", "no"):
            raise ValueError(f"{name}={value}: must be yes or no")
        return value == "yes"

    def names(self, name: str) -> tuple[str, ...]:
        """An option that lists names, with commas between them; empty if it is not given."""
        return tuple(filter(None, self.options.get(name, "").split(",")))

    def number(self, name: str) -> int | None:
        """An option that is a number; None if it is not given. Raises ValueError if it is something else."""
        value = self.options.get(name)
        if value is not None and not value.isdigit():
            raise ValueError(f"{name}={value}: must be a number")
        return None if value is None else int(value)


def expand(text: str, page: Page) -> str:
    """A page of the repository as mkdocs takes it, with every directive expanded.

    Raises DirectiveError for the first directive that cannot be expanded, or link that leads out of the site.
    """
    try:
        lines = for_mkdocs(text).splitlines()
    except ValueError as error:
        raise DirectiveError(f"{page.origin}:1: {error}") from error
    output: list[str] = []
    number = 0
    while number < len(lines):
        end = number
        if opening := FENCE.match(lines[number]):
            end = _closing_fence(lines, number, opening["ticks"], page)
            output += _fence(lines[number : end + 1], opening, page, number + 1)
        elif directive := DIRECTIVE.match(lines[number]):
            end += has_note(lines, number)
            caption = caption_of(lines[end]) if end > number else ""
            output += _expanded(directive, caption, page, number + 1)
        else:
            output.append(_with_links(lines[number], page, number + 1))
        number = end + 1
    return "\n".join(output) + "\n"


def _closing_fence(lines: list[str], start: int, ticks: str, page: Page) -> int:
    closing = (n for n in range(start + 1, len(lines)) if lines[n].strip() == ticks)
    if (end := next(closing, None)) is None:
        raise DirectiveError(f"{page.origin}:{start + 1}: this fence is never closed")
    return end


def _fence(block: list[str], opening: re.Match[str], page: Page, line: int) -> list[str]:
    """A block of code, without the marks of runnable blocks."""
    info = opening["info"].strip()
    if info.split(" ")[0] in _VERBS:
        raise DirectiveError(f"{page.origin}:{line}: write this directive as a comment: <!-- {info} -->")
    language = re.sub(r"\s+run(=\S+)?$", "", info).replace("text output", "{ .text .output }")
    return [f"{opening['indent']}{opening['ticks']}{language}", *block[1:]]


def _expanded(found: re.Match[str], caption: str, page: Page, line: int) -> list[str]:
    try:
        directive = Directive.parse(found["spec"], caption)
        expanded = _VERBS[directive.verb](directive, page)
    except (UnknownSymbolError, ValueError) as error:
        raise DirectiveError(f"{page.origin}:{line}: {error}") from error
    return [found["indent"] + row if row else row for row in expanded.splitlines()]


def _with_links(line: str, page: Page, number: int) -> str:
    try:
        return with_links(line, page.on_the_site)
    except NotOnTheSiteError as error:
        raise DirectiveError(f"{page.origin}:{number}: {error}") from error


def _source(directive: Directive, page: Page) -> str:
    if directive.reference.partition(":")[0].endswith(JAVA):
        java = find_java_symbol(directive.reference)
        page.sources.add(java.relative_path)
        return f"```` java\n{java.code}\n````\n\n{source_link(java, page)}\n"
    symbol = find_symbol(directive.reference)
    docstring, bodies = directive.flag("docstring"), directive.flag("bodies")
    code = render(symbol, docstring=docstring, only=directive.names("only"), bodies=bodies)
    page.sources.add(symbol.module)
    return f"```` python\n{code}\n````\n\n{source_link(symbol, page)}\n"


def source_link(symbol: SourceSymbol | JavaSymbol, page: Page) -> str:
    """The line below an excerpt: whose class it is, and its location, linked to that line of the whole file."""
    whose = ""
    if isinstance(symbol, SourceSymbol) and symbol.module.startswith("kafka_lite."):
        whose = f"{badge_of_module(module_docstring(symbol), page.language)} "
    target = page.link(f"{source_page(symbol.relative_path)}#__codelineno-0-{symbol.first_line}")
    return f"[{whose}`{symbol.relative_path}`:{symbol.first_line} · `{symbol.name}`]({target}){{ .source-link }}"


def _figure(directive: Directive, page: Page) -> str:
    return _in_figure(_function(directive.reference)(page.language), directive)


def _in_figure(svg: str, directive: Directive) -> str:
    caption = directive.caption
    drawn = "\n".join(row for row in svg.splitlines() if row.strip())
    below = f"\n<figcaption>{html.escape(caption, quote=False)}</figcaption>" if caption else ""
    return f'<figure class="drawing">\n{drawn}{below}\n</figure>'


def _recording(directive: Directive, page: Page) -> str:
    """A figure, followed by its steps in words for screen readers, searching and copying."""
    run = recorded_run(directive.reference, seed=directive.number("seed"))
    own = ("view", "words", "seed")
    options = {name: value for name, value in directive.options.items() if name not in own}
    view = directive.options.get("view", "sequence")
    if view not in _VIEWS:
        raise ValueError(f"view={view}: must be one of {', '.join(_VIEWS)}")
    diagram = _VIEWS[view](run, options, page.language)
    figure = diagram.playable()
    page.sources |= {path.removesuffix(".py").replace("/", ".") for path in figure.sources()}
    drawn = _in_figure(figure.html(page.address("source/")), directive).replace('"drawing"', '"drawing recording"', 1)
    return drawn + (_words(diagram, page.language) if directive.flag("words") else "")


def _words(diagram: SequenceDiagram | TimeLine, language: str) -> str:
    rows = "\n".join(f"<li>{html.escape(row, quote=False)}</li>" for row in diagram.in_words())
    return f"\n\n<details><summary>{word('In words', language)}</summary>\n<ol>\n{rows}\n</ol>\n</details>"


def _sequence(run: RecordedRun, options: dict[str, str], language: str) -> SequenceDiagram:
    known = _known(options, "lanes", "hide", "returns", "by")
    lanes, hide = _list(known.get("lanes")), _list(known.get("hide"))
    threads = thread_names(run.threads).values()
    if unknown := set(lanes) - {event.who for event in run} - set(run.actors.values()) - set(threads):
        raise ValueError(f"the recorded run has no {', '.join(sorted(unknown))}")
    returns, by = known.get("returns", "results"), known.get("by", "objects")
    return sequence_diagram(run, lanes=lanes, hide=hide, returns=returns, by=by, language=language)


def _time_line(run: RecordedRun, options: dict[str, str], language: str) -> TimeLine:
    known = _known(options, "hide", "threads")
    return time_line(run, hide=_list(known.get("hide")), threads=_list(known.get("threads")), language=language)


def _known(options: dict[str, str], *names: str) -> dict[str, str]:
    if unknown := sorted(set(options) - set(names)):
        raise ValueError(f"{unknown[0]!r} is none of its options: {', '.join(names)}")
    return options


def _list(value: str | None) -> list[str]:
    return [part for part in (value or "").split(",") if part]


_VIEWS: dict[str, Callable[[RecordedRun, dict[str, str], str], SequenceDiagram | TimeLine]] = {
    "sequence": _sequence,
    "time-line": _time_line,
}


def _generated(directive: Directive, page: Page) -> str:
    return _function(directive.reference)(page.language)


def _function(reference: str) -> Callable[[str], str]:
    module, _, name = reference.partition(":")
    find_symbol(reference)
    function = getattr(importlib.import_module(module), name)
    if not callable(function):
        raise UnknownSymbolError(f"{reference} is not a function")
    return lambda language: str(function(language))


def _live(directive: Directive, page: Page) -> str:
    scenario = scenarios().get(directive.reference)
    if scenario is None:
        raise UnknownSymbolError(f"chapters/live.toml has no scenario {directive.reference!r}")
    return live_scenario(scenario, page.address("live/"), page.language)


_VERBS: dict[str, Callable[[Directive, Page], str]] = {
    "source": _source,
    "figure": _figure,
    "generated": _generated,
    "recording": _recording,
    "live": _live,
}
