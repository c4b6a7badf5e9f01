"""Every notebook has the same text in Chinese as in English, cell by cell, with the same headings and links."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_learn import notebooks
from kafka_learn.both_languages import CHINESE, InBothLanguages, with_chinese_twin
from kafka_learn.notebooks import discover, headings, texts, with_anchors_of
from kafka_learn.project import PROJECT_ROOT

HAN = re.compile(r"[\u3400-\u9fff]")
LINK = re.compile(r"\]\(([^)]+)\)")
BOLD = re.compile(r"\*\*[^*]+\*\*")
ITEM = re.compile(r"^(- |\d+\. )", re.MULTILINE)


@pytest.mark.parametrize("script", discover(), ids=lambda script: script.stem)
def test_each_text_cell_of_a_notebook_exists_in_both_languages(script: Path) -> None:
    pairs = list(texts(read(script)))
    assert pairs
    for english, chinese in pairs:
        assert english is not None, f"no English cell before: {chinese.source}"
        assert chinese is not None, f"no Chinese cell after: {english.source}"
        assert HAN.search(chinese.source), f"not Chinese: {chinese.source!r}"
        assert not HAN.search(english.source), f"not English: {english.source}"
        assert levels(chinese.source) == levels(english.source), chinese.source
        for same in (LINK, ITEM):
            assert sorted(same.findall(chinese.source)) == sorted(same.findall(english.source)), chinese.source
        assert BOLD.search(chinese.source) or not BOLD.search(english.source), f"no question: {chinese.source}"


ANCHOR = re.compile(r"\]\((?:[^)#]*/)?([\w-]+)\.py#([^)]+)\)")


def test_links_into_a_notebook_lead_to_one_of_its_headings() -> None:
    anchors = {script.stem: anchors_of(script) for script in discover()}
    pages = [page for folder in ("chapters", "docs", "labs") for page in (PROJECT_ROOT / folder).rglob("*.md")]
    found = [(page.name, *link) for page in pages for link in ANCHOR.findall(page.read_text(encoding="utf-8"))]
    assert len(found) > 10
    assert [link for link in found if link[1] in anchors and link[2] not in anchors[link[1]]] == []


def anchors_of(script: Path) -> set[str]:
    titles = [line[2:] for line in script.read_text(encoding="utf-8").splitlines() if re.match("# #+ ", line)]
    return set(re.findall(r"\{ #(\S+) \}", with_anchors_of("\n\n".join(titles), "\n\n".join(titles))))


def read(path: Path) -> Any:
    import jupytext  # imported lazily, here and below: it takes two seconds, even if the tests are only collected

    return jupytext.read(path)


def levels(text: str) -> list[int]:
    return [len(heading) - len(heading.lstrip("#")) for heading in headings(text)]


def notebook_of(tmp_path: Path, script: str) -> object:
    path = tmp_path / "small.py"
    path.write_text(script, encoding="utf-8")
    return read(path)


SMALL = """\
# %% [markdown]
# # Small
#
# ## The end
#
# See [there](there.md).

# %% [markdown] lang="zh"
# # 小的
#
# ## 结尾
#
# 见[那里](there.md)。

# %%
x = 1

# %% [markdown]
# English only.
"""


def test_a_page_has_the_text_of_its_language_and_the_code_once(tmp_path: Path) -> None:
    notebook = notebook_of(tmp_path, SMALL)
    english, chinese = ("\n\n".join(notebooks._parts(notebook, language)) for language in ("en", "zh"))
    assert english == "# Small\n\n## The end\n\nSee [there](there.md).\n\n````python\nx = 1\n````\n\nEnglish only."
    assert chinese == (
        "# 小的 { #small }\n\n## 结尾 { #the-end }\n\n见[那里](there.md)。\n\n````python\nx = 1\n````\n\nEnglish only."
    )


def test_a_cell_without_its_twin_is_none_in_the_other_language(tmp_path: Path) -> None:
    text, code = SMALL.split("# %%\n")
    first, second = text.split('# %% [markdown] lang="zh"')
    no_english = '# %% [markdown] lang="zh"' + second
    found = list(texts(notebook_of(tmp_path, no_english + first + "# %%\n" + code)))
    assert [(english is None, chinese is None) for english, chinese in found] == [(True, False), *[(False, True)] * 2]


def test_the_language_of_a_cell_survives_jupyter(tmp_path: Path) -> None:
    import jupytext

    notebook = notebook_of(tmp_path, SMALL)
    again = jupytext.reads(jupytext.writes(notebook, "ipynb"), "ipynb")
    assert [cell.metadata.get("lang") for cell in again.cells] == [None, "zh", None, None]
    assert '# %% [markdown] lang="zh"' in jupytext.writes(again, "py:percent")


def test_anchors_are_the_same_in_both_languages() -> None:
    english = "# Notebook: `x`, *and* more\n\nText.\n\n## Two deaths"
    assert (
        with_anchors_of(english, "# 甲\n\n字。\n\n## 乙")
        == "# 甲 { #notebook-x-and-more }\n\n字。\n\n## 乙 { #two-deaths }"
    )


def test_a_heading_in_one_language_only_is_reported() -> None:
    with pytest.raises(notebooks.NotebookError, match=r"\['# One', '## Two'\], \['# 一'\]"):
        with_anchors_of("# One\n\n## Two", "# 一")


@pytest.mark.parametrize(
    ("outputs", "english", "chinese"),
    [
        ({"image/svg+xml": "<svg>a</svg>", CHINESE: "<svg>甲</svg>"}, "<svg>a</svg>", "<svg>甲</svg>"),
        ({"text/markdown": "| a |", CHINESE: "| 甲 |"}, "| a |", "| 甲 |"),
        ({"image/svg+xml": "<svg>a</svg>"}, "<svg>a</svg>", "<svg>a</svg>"),
    ],
)
def test_a_chinese_page_shows_the_chinese_output_if_there_is_one(
    outputs: dict[str, str], english: str, chinese: str
) -> None:
    output = SimpleNamespace(output_type="display_data", get=lambda _name, _default: outputs)
    assert english in notebooks._output(output, "en")
    assert chinese in notebooks._output(output, "zh")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_follows_a_question_is_folded_on_a_page(tmp_path: Path, language: str) -> None:
    script = tmp_path / "small.py"
    script.write_text(ASKING, encoding="utf-8")
    notebook = notebooks.read(script)
    for cell in (cell for cell in notebook.cells if cell.cell_type == "code"):
        cell.outputs = [SimpleNamespace(output_type="stream", text=f"of {cell.source}\n\n_x_")]
    told, answer, verdict = [part for part in notebooks._parts(notebook, language) if "of " in part]
    assert told == "````{ .text .output }\nof 1 + 1\n\n_x_\n````"
    indented = "    ````{ .text .output }\n    of 2 + 2\n\n    _x_\n    ````"
    assert answer == f'??? question "{notebooks._ANSWER[language]}"\n\n{indented}'
    assert verdict.startswith("````")


def test_a_figure_that_is_an_answer_is_folded_as_html() -> None:
    folded = notebooks.folded('<figure class="drawing">\n<svg>_a_</svg>\n</figure>', "en")
    assert folded.startswith('<details class="question"><summary>The answer')
    assert folded.endswith("</figure>\n</details>")


ASKING = """\
# %% [markdown]
# A fact.

# %% [markdown] lang="zh"
# 一个事实。

# %%
1 + 1

# %% [markdown]
# **What is it now?**

# %% [markdown] lang="zh"
# **现在是多少？**

# %%
2 + 2

# %%
SUM.check(answer)
"""


def test_a_figure_function_with_a_language_is_called_for_both() -> None:
    shown = InBothLanguages({"en": "| a |", "zh": "| 甲 |"}.__getitem__)
    assert shown._repr_mimebundle_() == {"text/markdown": "| a |", CHINESE: "| 甲 |"}


def test_a_figure_knows_its_chinese_twin() -> None:
    @with_chinese_twin
    def draw(word: str, language: str = "en") -> SimpleNamespace:
        return SimpleNamespace(svg=lambda: f"<svg>{word} {language}</svg>", chinese=None)

    assert draw("a").chinese() == "<svg>a zh</svg>"
    assert draw("a", "zh").chinese is None
