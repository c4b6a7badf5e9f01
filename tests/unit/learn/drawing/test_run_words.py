import pytest

from kafka_learn.drawing.run_words import lane_name, phrase
from kafka_learn.drawing.sequence_diagram import sequence_diagram
from kafka_learn.recording.recorded_run import Event, Kind, RecordedRun


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("the bell rings", "铃响"),
        ("generation 1", "世代 1"),
        ("generation 1, leader of 4", "世代 1，4 个成员的主消费者"),
        ("generation 1: demo-0=2", "世代 1：demo-0=2"),
        ("on_join_prepare, had nothing", "on_join_prepare，原来没有分区"),
        ("on_join_complete, has 0 1", "on_join_complete，分到 0 1"),
        ("works on 0–2", "处理 0–2"),
        ("73 bytes from 4 on", "从 4 起的 73 字节"),
        ("2 of 4 bytes of a size", "长度字段 2/4 字节"),
        ("{demo-0: 73 bytes}", "{demo-0: 73 字节}"),
        ("→ 1 connected, 2 received", "→ 连上 1 个, 收到 2 个"),
        ("[[demo-0, from offset 1 on]]", "[[demo-0, 从偏移量 1 起]]"),
        ("instance 1, task 1_0", "实例 1，任务 1_0"),
        ("delete demo-0", "删除 demo-0"),
        ("REBALANCE_IN_PROGRESS", "REBALANCE_IN_PROGRESS"),
    ],
)
def test_words_of_a_recorder_are_translated_and_names_of_the_code_are_not(english, chinese):
    assert phrase(english, "zh") == chinese
    assert phrase(english, "en") == english


def test_lanes_of_people_are_translated_and_those_of_classes_are_not():
    assert [lane_name(each, "zh") for each in ("user", "consumer 2", "Fetcher")] == ["用户", "消费者 2", "Fetcher"]
    assert lane_name("3 SyncGroup response", "zh") == "3 SyncGroup 响应"
    assert [lane_name(each, "zh") for each in ("caller", "event 2", "main")] == ["调用者", "事件 2", "主线程"]
    assert [lane_name(each, "zh") for each in ("member", "program", "started again")] == ["成员", "程序", "再次启动"]
    assert [lane_name(each, "zh") for each in ("task 1_0", "store Users")] == ["任务 1_0", "状态存储 Users"]
    assert lane_name("user", "en") == "user"


def test_the_state_of_a_connection_is_translated():
    change = Event(
        10, "client", Kind.STATE, "KafkaChannel", "receive", detail={"before": "nothing", "after": "60 of 100 bytes"}
    )
    diagram = sequence_diagram(RecordedRun((change,), "Polls of a selector", lanes=("KafkaChannel",)), language="zh")
    assert "接收: 无 → 60/100 字节" in diagram.svg()


def test_a_chinese_figure_has_no_english_note_left():
    note = Event(10, "user", Kind.NOTE, "user", "has left")
    diagram = sequence_diagram(RecordedRun((note,), "Members come and go"), language="zh")
    assert "已离开" in diagram.svg()
    assert "has left" not in diagram.svg()
    assert diagram.in_words() == ["用户: 已离开 (用户, 0.00 ms)"]
