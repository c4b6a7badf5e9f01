import pytest

from kafka_learn.both_languages import join_chinese_lines


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("日志被切\n成分段。\n", "日志被切成分段。\n"),
        ("第一句，\n第二句。\n", "第一句，第二句。\n"),
        ("见 Kafka\n的源码\n", "见 Kafka\n的源码\n"),
        ("一段\n\n另一段\n", "一段\n\n另一段\n"),
        ("1. 第一项\n   接着说\n2. 第二项\n", "1. 第一项接着说\n2. 第二项\n"),
        ("```text\n第一行\n第二行\n```\n之后\n继续\n", "```text\n第一行\n第二行\n```\n之后继续\n"),
        ("# 标题\n正文\n", "# 标题\n正文\n"),
    ],
)
def test_lines_of_a_chinese_paragraph_are_joined(text, joined):
    assert join_chinese_lines(text) == joined
