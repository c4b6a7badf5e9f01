"""Writes the report of a run, one HTML file that needs nothing else: figures, counts, and the comparison with pandas.

With matplotlib · book 2.3
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from html import escape

import pandas as pd
from rich.filesize import decimal

from pipeline.run.outcome import Outcome, TableCheck
from pipeline.view.live_view import event_time
from pipeline.view.query_progress import Progress, QueryStatus, batch_duration_ms, by_query
from pipeline.view.report_figures import Sample, draw_delays, draw_run

SHOWN_DIFFERENCES = 20

_STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #222; background: #fff; max-width: 64rem; margin: 2rem auto;
  padding: 0 1rem; }
h1 { font-size: 1.7rem; margin-bottom: .2rem; }
h2 { font-size: 1.2rem; margin-top: 2.2rem; }
.facts { color: #666; margin-top: 0; }
.verdict { padding: .7rem 1rem; border-left: .35rem solid; font-weight: 600; }
.equal { border-color: #009e73; background: #e8f6f1; }
.unequal { border-color: #d55e00; background: #fdeee5; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { padding: .3rem .9rem .3rem 0; text-align: right; border-bottom: 1px solid #e6e6e6; white-space: nowrap;
  font-variant-numeric: tabular-nums; }
th { color: #666; font-weight: 600; }
td.text, th.text { text-align: left; }
svg { width: 100%; height: auto; }
code { font-size: .9em; }
"""


@dataclass(frozen=True)
class RunReport:
    """All that a report shows. ``facts`` are short sentences on how the run was made."""

    title: str
    facts: Sequence[str]
    outcome: Outcome
    statuses: Sequence[QueryStatus]
    batches: Sequence[Progress]
    samples: Sequence[Sample]
    delays: pd.DataFrame


def report_html(report: RunReport) -> str:
    """The whole page."""
    is_equal = report.outcome.is_equal
    verdict = "Every table equals the one that pandas computed from the data set." if is_equal else "NOT as expected."
    parts = [
        f"<h1>{escape(report.title)}</h1>",
        f'<p class="facts">{" · ".join(map(escape, report.facts))}</p>',
        f'<p class="verdict {"equal" if is_equal else "unequal"}">{verdict}</p>',
        _tables(report.outcome.tables),
        *(_differences(table) for table in report.outcome.tables if not table.is_equal),
        _faults(report.outcome),
        "<h2>What it found</h2>",
        draw_delays(report.delays) if len(report.delays) else "<p>Nothing.</p>",
        "<h2>How it ran</h2>",
        draw_run([status.name for status in report.statuses], report.batches, report.samples),
        "<p>A dashed line is a restart. The last step of every query is the work that the closing events set free.</p>",
        _queries(report),
    ]
    return _page(report.title, "\n".join(parts))


def _tables(tables: Sequence[TableCheck]) -> str:
    rows = [(table.name, f"{table.rows:,}", f"{table.expected_rows:,}", _mark(table.is_equal)) for table in tables]
    return "<h2>Beside pandas</h2>" + _table(("table", "rows", "in pandas", "equal"), rows)


def _differences(table: TableCheck) -> str:
    shown = "".join(f"<li>{escape(difference)}</li>" for difference in table.differences[:SHOWN_DIFFERENCES])
    more = len(table.differences) - SHOWN_DIFFERENCES
    rest = f"<p>… and {more:,} more</p>" if more > 0 else ""
    return f"<h2>Differences of {escape(table.name)}</h2><ul>{shown}</ul>{rest}"


def _faults(outcome: Outcome) -> str:
    rows = [
        (
            fault.fault,
            f"{fault.sent:,}",
            "" if fault.found is None else f"{fault.found:,}",
            fault.meaning,
            _mark(fault.is_equal),
        )
        for fault in outcome.faults
    ]
    return "<h2>What was wrong on purpose</h2>" + _table(("", "sent", "found", "", "equal"), rows, text_columns=(0, 3))


def _queries(report: RunReport) -> str:
    durations = {name: sorted(map(batch_duration_ms, batches)) for name, batches in by_query(report.batches).items()}
    rows = []
    for status in report.statuses:
        of_query = durations[status.name]
        rows.append((
            status.name, f"{len(of_query):,}", _seconds(of_query[len(of_query) // 2]), _seconds(of_query[-1]),
            f"{status.total_rows_in:,}", f"{status.dropped_by_watermark:,}", f"{status.state_rows:,}",
            decimal(status.state_bytes), event_time(status.watermark_ms),
        ))  # fmt: skip
    headings = ("query", "batches", "median", "longest", "rows in", "dropped", "state at end", "memory", "watermark")
    return "<h2>Queries</h2>" + _table(headings, rows)


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]], text_columns: Collection[int] = (0,)) -> str:
    """A table; columns other than ``text_columns`` are numbers."""
    kinds = [' class="text"' if index in text_columns else "" for index in range(len(headings))]

    def line(tag: str, cells: Sequence[str]) -> str:
        pairs = zip(kinds, cells, strict=True)
        return "<tr>" + "".join(f"<{tag}{kind}>{escape(cell)}</{tag}>" for kind, cell in pairs) + "</tr>"

    body = "\n".join(line("td", row) for row in rows)
    return f'<div class="wide"><table><thead>{line("th", headings)}</thead><tbody>{body}</tbody></table></div>'


def _seconds(ms: int) -> str:
    return f"{ms / 1000:.1f} s"


def _mark(is_equal: bool) -> str:
    return "✓" if is_equal else "✗"


def _page(title: str, body: str) -> str:
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_STYLE}</style></head>\n'
        f"<body>\n{body}\n</body></html>\n"
    )
