"""Which commands of a page are only shown."""

from __future__ import annotations

from kafka_learn.site.page_commands import shown_commands

PAGE = r"""# Page

```console run
$ echo one
one
```

```console
$ kafka-lite topics --list     # all of them
orders
$ curl -X PUT \
    -d '{"a": 1}' \
    http://127.0.0.1:8083/
```

1. In a list:

    ```console
    $ make broker
    ```

```python
print("$ no command")
```
"""


def test_commands_without_the_mark_are_shown_only() -> None:
    assert [(each.line, each.text) for each in shown_commands(PAGE)] == [
        (9, "kafka-lite topics --list"),
        (11, "curl -X PUT -d '{\"a\": 1}' http://127.0.0.1:8083/"),
        (19, "make broker"),
    ]


def test_a_mark_within_a_word_is_no_comment() -> None:
    (command,) = shown_commands("```console\n$ open page#anchor\n```\n")
    assert command.text == "open page#anchor"
