"""Boxes have names, and wide figures can be scrolled by keyboard."""

from kafka_learn.site.built.accessible import on_page_content

BOX = '<label class="task-list-control"><input type="checkbox"{}/><span class="task-list-indicator"></span></label>'
LIST = f"""<ul class="task-list">
<li class="task-list-item">{BOX.format("")} why
<code>x &lt; y</code> &amp; <em>always</em>;</li>
<li class="task-list-item">{BOX.format(" checked")} the "rest":
<ul><li>a part</li></ul>
</li>
</ul>"""


def test_a_box_is_named_by_its_task_in_words():
    page = on_page_content(LIST)
    assert '<input type="checkbox" aria-label="why x &lt; y &amp; always;"/>' in page
    assert '<input type="checkbox" aria-label="the &quot;rest&quot;:" checked/>' in page
    assert (
        page.replace(' aria-label="why x &lt; y &amp; always;"', "").replace(' aria-label="the &quot;rest&quot;:"', "")
        == LIST
    )


def test_another_box_is_left_as_it_is():
    box = '<label><input type="checkbox"> all lanes</label>'
    assert on_page_content(box) == box


def test_a_figure_takes_the_focus():
    assert on_page_content('<figure class="drawing">\n</figure>') == '<figure class="drawing" tabindex="0">\n</figure>'
