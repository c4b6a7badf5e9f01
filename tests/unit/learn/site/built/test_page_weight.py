"""Pages become lighter and stay the same for those who look at them."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

from kafka_learn.drawing.sequence_diagram import sequence_diagram
from kafka_learn.site.built.page_weight import lighter, on_page_content, on_post_page, without_steps
from tests.support.recorded_runs import small_run

ANCHOR = '<a id="__codelineno-0-1" name="__codelineno-0-1" href="#__codelineno-0-1"></a>'
CODE = f'<pre><code>{ANCHOR}<span class="k">if</span><span class="w"> </span>x:\n    y\n</code></pre>'


def page(name: str) -> SimpleNamespace:
    return SimpleNamespace(file=SimpleNamespace(src_uri=f"{name}.md", dest_uri=f"{name}/index.html"))


def test_the_steps_of_each_run_are_in_a_file_of_its_own() -> None:
    html = sequence_diagram(small_run()).playable().html("../source/")
    text, files = without_steps(f"<p>One</p>\n{html}\n<p>Two</p>\n{html}")
    assert list(files) == ["run-1.json", "run-2.json"]
    assert all(json.loads(steps)["steps"] for steps in files.values())
    assert "application/json" not in text
    for number in (1, 2):
        assert (
            f'<div class="recorded-run recorded-run--y" data-steps="run-{number}.json" data-source="../source/">'
            in text
        )
    assert text.count("<svg") == html.count("<svg") * 2


def test_the_files_lie_beside_their_page(tmp_path: Path) -> None:
    html = sequence_diagram(small_run()).playable().html()
    on_page_content(html, page=page("book/run"), config=SimpleNamespace(site_dir=str(tmp_path)))
    assert json.loads((tmp_path / "book/run/run-1.json").read_text(encoding="utf-8"))["lanes"]


def test_a_page_without_runs_has_no_files(tmp_path: Path) -> None:
    config = SimpleNamespace(site_dir=str(tmp_path))
    assert on_page_content("<p>Text</p>", page=page("book/text"), config=config) == "<p>Text</p>"
    assert list(tmp_path.iterdir()) == []


def test_lines_have_anchors_only_where_links_lead_to_them() -> None:
    assert ANCHOR in on_post_page(CODE, page=page("source/kafka_lite/log/log"))
    assert ANCHOR not in on_post_page(CODE, page=page("book/reading"))


def test_code_keeps_its_spaces_and_a_list_loses_its_indentation() -> None:
    text = lighter(f"<ul>\n\n    <li>a\n    b</li>\n</ul>\n{CODE}\n  <p>c</p>\n<script>\n  d\n</script>")
    assert text.startswith("<ul>\n<li>a\nb</li>\n</ul>\n<pre>")
    assert '<span class="k">if</span> x:\n    y\n</code></pre>\n<p>c</p>\n<script>\n  d\n</script>' in text
