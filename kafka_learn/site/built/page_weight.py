"""Makes pages lighter, as a hook of mkdocs: a reader waits for what a page has, and uses only a part of it.

The steps of a recorded run become a file beside the page, which ``docs/assets/stepper/`` loads. Of the rest, a page
loses what nobody sees: the anchors of lines, except where links lead to them, and the indentation of its HTML.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

SOURCE = "source/"
"""The folder of the pages with whole modules: links lead to their lines."""
_RUN = re.compile(
    r'(?P<opening><div class="recorded-run recorded-run--[xy]")(?P<body>[^>]*>.*?)'
    r'<script type="application/json">(?P<steps>.*?)</script>\n?',
    re.DOTALL,
)
_ANCHOR = re.compile(r'<a id="__codelineno-[^"]*" name="[^"]*" href="[^"]*"></a>')
_SPACE_TOKEN = re.compile(r'<span class="w">(\s*)</span>')
_AS_IT_IS = re.compile(r"(<(pre|script|style|textarea)\b.*?</\2>)", re.DOTALL)
_INDENTED = re.compile(r"\s*\n\s*")


def on_page_content(content: str, page: Any, config: Any, **_: Any) -> str:
    """The HTML of a page whose recorded runs load their steps."""
    text, files = without_steps(content)
    folder = Path(config.site_dir, page.file.dest_uri).parent
    for name, steps in files.items():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(steps, encoding="utf-8")
    return text


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """The whole page without what nobody sees."""
    has_links_to_lines = page.file.src_uri.startswith(SOURCE)
    return lighter(output if has_links_to_lines else _ANCHOR.sub("", output))


def without_steps(content: str) -> tuple[str, dict[str, str]]:
    """The HTML with the addresses of the steps in ``data-steps``, and the files, by their names."""
    files: dict[str, str] = {}

    def moved(run: re.Match[str]) -> str:
        name = f"run-{len(files) + 1}.json"
        files[name] = run["steps"]
        return f'{run["opening"]} data-steps="{name}"{run["body"]}'

    return _RUN.sub(moved, content), files


def lighter(page: str) -> str:
    """The page without indentation, but for code and scripts, and without marks for the spaces of code.

    >>> lighter("<ul>\\n\\n   <li>a</li>\\n  </ul><pre>\\n  b\\n</pre>")
    '<ul>\\n<li>a</li>\\n</ul><pre>\\n  b\\n</pre>'
    """
    parts = _AS_IT_IS.split(page)
    for number in range(0, len(parts), 3):  # each text is followed by an element and its tag
        parts[number] = _INDENTED.sub("\n", parts[number])
    kept = (part for number, part in enumerate(parts) if number % 3 != 2)
    return _SPACE_TOKEN.sub(r"\1", "".join(kept))
