"""A page of the repository becomes a page of mkdocs, line by line."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from kafka_learn.site.repository_markdown import (
    for_mkdocs,
    in_fences,
    repository_path,
    site_page,
    title_of,
    with_links,
)

PAGE = """\
# Title

<details>
<summary>Why is <code>a &lt; b</code>?</summary>

Because.

```text
<details>
</details>
```
</details>
## After <a id="after"></a>
"""


def test_a_collapsed_block_is_indented_and_keeps_every_line_in_its_place() -> None:
    assert for_mkdocs(PAGE).splitlines() == [
        "# Title",
        "",
        '??? question "Why is `a < b`?"',
        "",
        "",
        "    Because.",
        "",
        "    ```text",
        "    <details>",
        "    </details>",
        "    ```",
        "",
        "## After { #after }",
    ]
    assert len(for_mkdocs(PAGE).splitlines()) == len(PAGE.splitlines())


@pytest.mark.parametrize(
    ("opening", "translated"),
    [
        ("<details>", '??? question "T"'),
        ("<details open>", '???+ question "T"'),
        ('<details class="success">', '??? success "T"'),
        ('<details class="success" open>', '???+ success "T"'),
    ],
)
def test_a_block_has_its_kind_and_may_be_open(opening: str, translated: str) -> None:
    page = f"{opening}\n<summary>T</summary>\n</details>\n"
    assert for_mkdocs(page) == f"{translated}\n\n\n"


def test_a_block_that_is_never_closed_is_an_error() -> None:
    with pytest.raises(ValueError, match="never closed"):
        for_mkdocs("<details>\n<summary>T</summary>\n")
    assert for_mkdocs("```\n<details>\n```\n") == "```\n<details>\n```\n", "an example in a fence is none"


def test_a_fence_ends_with_as_many_backticks_as_it_began() -> None:
    lines = ["a", "````md", "```", "b", "```", "````", "c", "  ```", "d", "  ```", "`e`"]
    inside = [line for line, is_code in zip(lines, in_fences(lines), strict=True) if is_code]
    assert [line for line in lines if line not in inside] == ["a", "c", "`e`"]


def test_a_summary_is_markdown() -> None:
    assert title_of("<strong>One</strong> &amp; <em>two</em>") == "**One** & *two*"


@pytest.mark.parametrize(
    ("line", "rewritten"),
    [
        ("[a](x.md) and [b](y.md#part)", "[a](<x.md>) and [b](<y.md>#part)"),
        ("`[a](x.md)` [b](y.md)", "`[a](x.md)` [b](<y.md>)"),
        ("[a](https://x.example/y) [b](#part) [c](/root) [d](mailto:a)", None),
    ],
)
def test_only_relative_links_outside_of_code_are_rewritten(line: str, rewritten: str | None) -> None:
    assert with_links(line, lambda path: f"<{path}>") == (rewritten or line)


def test_a_link_leads_from_the_folder_of_its_page() -> None:
    assert repository_path("chapters/ch06_storage/log.md", "../../labs/x/README.md") == "labs/x/README.md"
    assert repository_path("README.md", "docs/a.md") == "docs/a.md"


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("labs/ch06-offset-index/README.md", "labs/ch06-offset-index.md"),
        ("labs/ch06-offset-index/README.zh.md", "labs/ch06-offset-index.md"),
        ("labs/ch06-offset-index/lab.toml", None),
        ("chapters/ch06_storage/log_segments.py", "book/ch06_storage/log_segments_notebook.md"),
        ("chapters/ch06_storage/figures/lines.py", None),
        ("chapters/ch06_storage/log-segments.zh.md", "book/ch06_storage/log-segments.md"),
        ("docs/streams.md", "streams.md"),
        ("docs/assets/logo.svg", "assets/logo.svg"),
        ("chapters/book.toml", None),
        ("kafka_lite/log/log.py", None),
        ("README.md", None),
    ],
)
def test_a_page_has_one_place_on_the_site_for_both_languages(path: str, place: str | None) -> None:
    assert site_page(path) == (None if place is None else PurePosixPath(place))
