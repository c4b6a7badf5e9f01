"""Names for what Markdown leaves without one, so that readers who hear a page or use its keyboard reach all of it.

mkdocs calls ``on_page_content`` (``hooks`` in ``mkdocs.yml``). A box of a list of tasks is named by its task. A figure,
which scrolls where it is wider than the screen, takes the focus, so that the keyboard can scroll it.
"""

from __future__ import annotations

import html
import re
from typing import Any

_BOX = re.compile(
    r'<input type="checkbox"(?P<rest>[^>]*>\s*<span class="task-list-indicator"></span></label>)'
    r"(?P<task>.*?)(?=</?li>|</?ul>)",
    re.DOTALL,
)
_TAG = re.compile(r"<[^>]+>")
_FIGURE = re.compile(r'<figure class="drawing"')


def on_page_content(content: str, **_: Any) -> str:
    """The HTML of a page with names for its boxes, and with figures that take the focus."""
    return _FIGURE.sub(r'\g<0> tabindex="0"', _BOX.sub(_named, content))


def _named(found: re.Match[str]) -> str:
    words = " ".join(html.unescape(_TAG.sub("", found["task"])).split())
    return f'<input type="checkbox" aria-label="{html.escape(words)}"{found["rest"]}{found["task"]}'
