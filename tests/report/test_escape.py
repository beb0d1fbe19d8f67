"""Text of the user's cannot become HTML, and nothing in it is hidden."""

import re
from pathlib import Path

from pcwinter import report
from pcwinter.report.escape import escape, visible
from small_runs import HOSTILE, HOSTILE_CLASSES, Elements, embedded, named_graph, small_run, with_story


def test_ids_and_names_cannot_become_html(tmp_path: Path) -> None:
    graph = named_graph(ids=HOSTILE, classes=HOSTILE_CLASSES)
    run = small_run(tmp_path, graph)
    (tmp_path / "experiments").mkdir()
    curves = "method,seed,<i>x</i>,<i>y</i>\n<img src=x>,1,0,1\n<img src=x>,1,1,2\n"
    (tmp_path / "experiments" / "<img src=x>.csv").write_text(curves)
    (tmp_path / "experiments" / "<img src=y>.csv").write_text("<img src=z>\n")
    run = with_story(run, graph="<img src=x>", warnings=["<img src=x>"], status="<img src=x>")
    page = report.page(run)
    elements = Elements(page)
    assert set(HOSTILE) >= set(embedded(page)["nodes"]["id"]) >= set(HOSTILE[:4])
    assert embedded(page)["classes"] == [*HOSTILE_CLASSES, "unknown"]
    tags = [tag for tag, _ in elements.tags]
    assert tags.count("script") == 2
    assert not {"img", "b", "i", "iframe"} & set(tags)
    assert not [name for _, attributes in elements.tags for name in attributes if name.startswith("on")]
    assert not set("<>&\u2028\u2029") & set(re.findall(r'id="data">(.*?)</script>', page, re.DOTALL)[0])


def test_what_cannot_be_seen_is_spelt_out(tmp_path: Path) -> None:
    run = small_run(tmp_path, named_graph(ids=["a\u202eb", "c\x1bd"], classes=("red\u2066", "blue")))
    page = report.page(with_story(run, graph="caf\udce9", status="\u202edone", warnings=["\x00"]))
    page.encode()  # half a character would have no code
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", page)
    assert {r"a\u202eb", r"c\u001bd"} <= set(embedded(page)["nodes"]["id"])
    for words in (r"caf\udce9", r"\u202edone", r"\u0000", r"red\u2066"):
        assert words in page


def test_only_what_is_hidden_or_html_changes() -> None:
    plain = "ä😀 中\t\n{}$'"
    assert visible(plain) == plain
    assert visible("a\x00b\u202e\ud800") == r"a\u0000b\u202e\ud800"
    assert escape('<a href="x">&\'\x1b') == r"&lt;a href=&quot;x&quot;&gt;&amp;&#x27;\u001b"
