"""Draws the logo: three partitions of a log, each with its newest record at the end.

``python -m kafka_learn.drawing.logo`` writes ``docs/assets/logo.svg``, which stands on the header's dark bar, and
``favicon.svg``, which has a background of its own.
"""

from __future__ import annotations

import sys

from kafka_learn.project import PROJECT_ROOT

ASSETS = PROJECT_ROOT / "docs" / "assets"
SIZE = 64
PARTITIONS = (3, 4, 2)
"""The number of records in each."""
OLD, NEW = "#ffffff", "#ffab5c"
GROUND = "#16304f"
_LEFT, _TOP, _STEP, _CELL = 8, 10, 12.5, 10.5
_ROW = 16
_TITLE = "kafka_lite"


def logo(*, ground: bool) -> str:
    """The logo as an SVG file, on a rounded square or on nothing."""
    rows = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIZE} {SIZE}"><title>{_TITLE}</title>']
    if ground:
        rows.append(f'<rect width="{SIZE}" height="{SIZE}" rx="12" fill="{GROUND}"/>')
    for number, records in enumerate(PARTITIONS):
        for offset in range(records):
            x, y = _LEFT + offset * _STEP, _TOP + number * _ROW
            fill = NEW if offset == records - 1 else OLD
            rows.append(f'<rect x="{x:g}" y="{y}" width="{_CELL:g}" height="12" rx="2" fill="{fill}"/>')
    return "\n".join([*rows, "</svg>", ""])


def files() -> dict[str, str]:
    """Name and content of both files."""
    return {"logo.svg": logo(ground=False), "favicon.svg": logo(ground=True)}


def main() -> int:
    """Write both files."""
    for name, content in files().items():
        (ASSETS / name).write_text(content, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
