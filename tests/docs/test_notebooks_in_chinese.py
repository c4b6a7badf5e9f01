"""Every notebook says in Chinese what it says in English, cell by cell, with the same headings and links."""

import re
from pathlib import Path
from types import SimpleNamespace

import jupytext
import pytest

from kafka_learn import notebooks
from kafka_learn.both_languages import CHINESE, InBothLanguages, with_chinese_twin
from kafka_learn.notebooks import discover, headings, texts, with_anchors_of

HAN = re.compile(r"[\u3400-\u9fff]")
LINK = re.compile(r"\]\(([^)]+)\)")
BOLD = re.compile(r"\*\*[^*]+\*\*")
ITEM = re.compile(r"^(- |\d+\. )", re.MULTILINE)


@pytest.mark.parametrize("script", discover(), ids=lambda script: script.stem)
def test_each_text_of_a_notebook_is_there_in_both_languages(script: Path) -> None:
    pairs = list(texts(jupytext.read(script)))
    assert pairs
    for english, chinese in pairs:
        assert english is not None, f"nothing English stands before: {chinese.source}"
        assert chinese is not None, f"nothing Chinese follows: {english.source}"
        assert HAN.search(chinese.source), f"not Chinese: {chinese.source!r}"
        assert not HAN.search(english.source), f"not English: {english.source}"
        assert levels(chinese.source) == levels(english.source), chinese.source
        for same in (LINK, ITEM):
            assert sorted(same.findall(chinese.source)) == sorted(same.findall(english.source)), chinese.source
        assert BOLD.search(chinese.source) or not BOLD.search(english.source), f"no question: {chinese.source}"


def levels(text: str) -> list[int]:
    return [len(heading) - len(heading.lstrip("#")) for heading in headings(text)]


def notebook_of(tmp_path: Path, script: str) -> object:
    path = tmp_path / "small.py"
    path.write_text(script, encoding="utf-8")
    return jupytext.read(path)


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


def test_what_is_missing_in_one_of_the_languages_is_none(tmp_path: Path) -> None:
    text, code = SMALL.split("# %%\n")
    first, second = text.split('# %% [markdown] lang="zh"')
    no_english = '# %% [markdown] lang="zh"' + second
    found = list(texts(notebook_of(tmp_path, no_english + first + "# %%\n" + code)))
    assert [(english is None, chinese is None) for english, chinese in found] == [(True, False), *[(False, True)] * 2]


def test_the_language_of_a_cell_outlives_jupyter(tmp_path: Path) -> None:
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


def test_a_heading_in_one_language_only_is_told() -> None:
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
def test_an_output_that_knows_chinese_is_shown_in_it(outputs: dict[str, str], english: str, chinese: str) -> None:
    output = SimpleNamespace(output_type="display_data", get=lambda _name, _default: outputs)
    assert english in notebooks._output(output, "en")
    assert chinese in notebooks._output(output, "zh")


def test_a_function_that_takes_a_language_is_shown_in_both() -> None:
    shown = InBothLanguages({"en": "| a |", "zh": "| 甲 |"}.__getitem__)
    assert shown._repr_mimebundle_() == {"text/markdown": "| a |", CHINESE: "| 甲 |"}


def test_a_figure_knows_its_chinese_twin() -> None:
    @with_chinese_twin
    def draw(word: str, language: str = "en") -> SimpleNamespace:
        return SimpleNamespace(svg=lambda: f"<svg>{word} {language}</svg>", chinese=None)

    assert draw("a").chinese() == "<svg>a zh</svg>"
    assert draw("a", "zh").chinese is None
