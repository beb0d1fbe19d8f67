"""The report in a browser: sorting, filters, downloads, clicks and keys, without any network request."""

import csv
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright
from scipy import stats

import pcwinter as pw
from pcwinter import report
from pcwinter.report import data
from pcwinter.runs.read import Run
from small_runs import HEAD, HOSTILE, HOSTILE_CLASSES, named_graph, small_run, with_story

pytestmark = pytest.mark.browser

ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
expect.set_options(timeout=20_000)  # a busy machine is slow, not wrong

Open = Callable[..., AbstractContextManager[Page]]


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield running
        running.close()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    directory = tmp_path_factory.mktemp("run")
    found = small_run(directory)
    (directory / "experiments").mkdir()
    rows = [f"{method},{seed},{x},{x + seed}\n" for method in ("own", "random") for seed in (1, 2) for x in range(9)]
    (directory / "experiments" / "dropping.csv").write_text("method,seed,dropped,accuracy\n" + "".join(rows))
    return found


@pytest.fixture(scope="module")
def file(run: Run) -> Path:
    path = run.directory / "report.html"
    path.write_text(report.page(run), encoding="utf-8")
    return path


@pytest.fixture
def opened(browser: Browser, file: Path) -> Open:
    """Opens the page, or that of another file; no errors, and no request but that for the file."""

    @contextmanager
    def open_page(path: Path = file, **options: Any) -> Iterator[Page]:
        context = browser.new_context(
            **{"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce", **options}
        )
        page = context.new_page()
        errors: list[str] = []
        requests: list[str] = []
        page.on("console", lambda message: errors.append(message.text))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri())
        expect(page.locator("#nodes-table tbody tr").first).to_be_visible()
        yield page
        context.close()
        assert errors == []
        assert set(requests) <= {path.as_uri(), "data:,"}

    return open_page


def column(page: Page, table: str, title: str) -> list[str]:
    place = page.locator(f"#{table}-table th").all_inner_texts().index(title) + 1
    return page.locator(f"#{table}-table tbody tr td:nth-child({place})").all_inner_texts()


def download(page: Page, table: str) -> list[dict[str, str]]:
    """The rows of the CSV file that the button saves."""
    with page.expect_download() as saved:
        page.locator(f"#{table}").get_by_role("button", name="Download CSV").click()
    assert saved.value.suggested_filename == f"{table}.csv"
    with Path(saved.value.path()).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def number(text: str) -> float:
    return float(text.replace("\N{MINUS SIGN}", "-"))


def strongest(run: Run) -> str:
    """A node with players that count and that do not start at itself."""
    others = run.nodes[~run.nodes["labelled"]]
    return str(others["node"].iloc[int(others["value"].abs().argmax())])


def click_node(page: Page, name: str) -> None:
    x, y = page.evaluate("id => window.pcwinter.position(id)", name)
    page.locator("#canvas").click(position={"x": x, "y": y})


def check_panel(page: Page, run: Run, name: str) -> None:
    """The panel shows the node, and each of its players that count, with the numbers of the run."""
    panel = page.locator("#panel")
    expect(panel.get_by_role("heading", name=f"Node {name}", exact=True)).to_be_visible()
    value = dict(zip(run.nodes["node"], run.nodes["value"], strict=True))[name]
    expect(panel.locator(".big")).to_contain_text("helps" if value > 0 else "harms")
    ids = dict(zip(run.number.tolist(), run.nodes["node"], strict=True))
    paths = [[ids[step] for step in path if step >= 0] for path in run.paths.tolist()]
    wanted = {
        " → ".join(path): value
        for path, value, stderr in zip(paths, run.value.tolist(), run.stderr.tolist(), strict=True)
        if path[-1] == name and (value or stderr)  # the others are summed up
    }
    ways = [way.replace(" itself", "") for way in panel.locator("li .way").all_inner_texts()]
    figures = panel.locator("li .figure").all_inner_texts()
    shown = {way: number(figure.split(" ± ")[0].split()[-1]) for way, figure in zip(ways, figures, strict=True)}
    assert shown == pytest.approx(wanted, abs=1e-5)
    roots = [path.split(" → ")[0] for path in wanted]
    assert sorted(panel.locator(".through strong").all_inner_texts()) == sorted(set(roots))
    expect(page.locator("#said")).to_contain_text(f"Node {name}:")


def test_a_click_on_a_node_shows_its_players(opened: Open, run: Run) -> None:
    name = strongest(run)
    with opened() as page:
        expect(page.locator("#panel")).to_contain_text("Choose a node")
        click_node(page, name)
        check_panel(page, run, name)
        root = page.locator("#panel .through strong a").first
        other = root.inner_text()
        root.click()  # nodes in the panel can be chosen, too
        check_panel(page, run, other)
        page.locator("#canvas").click(position={"x": 3, "y": 3})
        expect(page.locator("#panel")).to_contain_text("Choose a node")


def test_the_same_by_keyboard(opened: Open, run: Run) -> None:
    name = strongest(run)
    with opened() as page:
        page.get_by_label("Show node").focus()
        page.keyboard.type(name)
        page.keyboard.press("Enter")
        check_panel(page, run, name)
        page.locator("#canvas").focus()
        page.keyboard.press("Enter")
        expect(page.locator("#panel")).to_be_focused()
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")  # on a link, which the panel of the next node takes the place of
        expect(page.locator("#panel")).to_be_focused()
        page.keyboard.press("Escape")
        expect(page.locator("#canvas")).to_be_focused()
        expect(page.locator("#panel")).to_contain_text("Choose a node")
        seen = set()
        for key in ("ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp"):
            page.keyboard.press(key)
            seen.add(page.locator("#panel h3").inner_text())
        assert len(seen) > 1
        assert all(heading.startswith("Node ") for heading in seen)
        page.get_by_label("Show node").fill("no such node")
        page.keyboard.press("Enter")
        expect(page.locator("#said")).to_contain_text("No node in this page")


def test_zoom_and_pan(opened: Open, run: Run) -> None:
    a, b = run.nodes["node"][:2]
    with opened() as page:

        def gap() -> float:
            (ax, ay), (bx, by) = (page.evaluate("id => window.pcwinter.position(id)", name) for name in (a, b))
            return float(((ax - bx) ** 2 + (ay - by) ** 2) ** 0.5)

        start = gap()
        page.get_by_role("button", name="Zoom in").click()
        assert gap() == pytest.approx(start * 1.4)
        page.get_by_role("button", name="Zoom out").click()
        assert gap() == pytest.approx(start)
        canvas = page.locator("#canvas")
        canvas.dispatch_event("wheel", {"deltaY": -300})
        assert gap() == pytest.approx(start)  # the wheel scrolls the page until the graph was clicked
        canvas.focus()
        canvas.dispatch_event("wheel", {"deltaY": -300})
        assert gap() > start * 1.3
        page.keyboard.press("0")
        assert gap() == pytest.approx(start)
        page.keyboard.press("+")
        assert gap() == pytest.approx(start * 1.3)
        page.keyboard.press("-")
        assert gap() == pytest.approx(start)
        x, y = page.evaluate("id => window.pcwinter.position(id)", a)
        page.keyboard.press("Shift+ArrowRight")
        assert page.evaluate("id => window.pcwinter.position(id)", a) == pytest.approx([x - 60, y])
        canvas.scroll_into_view_if_needed()
        box = canvas.bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + 200, box["y"] + 200)
        page.mouse.down()
        page.mouse.move(box["x"] + 230, box["y"] + 240)
        page.mouse.up()
        moved = page.evaluate("id => window.pcwinter.position(id)", a)
        assert moved == pytest.approx([x - 30, y + 40])
        expect(page.locator("#panel")).to_contain_text("Choose a node")  # a drag is no click
        before = gap()
        fingers = [(1, 100), (2, 200)]
        for finger, place in fingers:
            touch = {"pointerId": finger, "pointerType": "touch", "clientX": box["x"] + place, "clientY": box["y"] + 50}
            canvas.dispatch_event("pointerdown", touch)
        canvas.dispatch_event("pointermove", {**touch, "clientX": box["x"] + 300})
        assert gap() == pytest.approx(before * 2)


def test_tables_sort(opened: Open, run: Run) -> None:
    with opened() as page:
        for table, frame in (("nodes", run.nodes), ("edges", run.edges)):
            head = page.locator(f"#{table}-table th", has_text="Value").first
            expect(head).to_have_attribute("aria-sort", "descending")
            values = [number(text) for text in column(page, table, "Value")]
            assert values == sorted(values, reverse=True)
            assert values == pytest.approx(sorted(frame["value"], reverse=True), abs=1e-4)
            head.get_by_role("button").click()
            expect(head).to_have_attribute("aria-sort", "ascending")
            assert [number(text) for text in column(page, table, "Value")] == sorted(values)
        first = page.locator("#nodes-table th").first
        first.get_by_role("button").focus()
        page.keyboard.press("Enter")
        expect(first).to_have_attribute("aria-sort", "ascending")
        assert column(page, "nodes", "Node") == sorted(run.nodes["node"], key=lambda name: int(name[1:]))
        expect(page.locator("#nodes-table [aria-sort=ascending]")).to_have_count(1)


def test_tables_filter_by_id_and_class(opened: Open, run: Run) -> None:
    with opened() as page:
        search = page.locator("#nodes-search")
        search.fill("a1")
        assert set(column(page, "nodes", "Node")) == {name for name in run.nodes["node"] if "a1" in name}
        search.fill("BLUE")
        assert set(column(page, "nodes", "Class")) == {"blue"}
        search.fill("nothing of that kind")
        assert column(page, "nodes", "Node") == []
        expect(page.locator("#nodes-count")).to_have_text(f"Showing 0 of {len(run.nodes)} nodes")
        expect(page.locator("#nodes-download")).to_be_disabled()
        page.locator("#edges-search").fill("a1")
        rows = zip(column(page, "edges", "Source"), column(page, "edges", "Target"), strict=True)
        wanted = run.edges[run.edges["source"].str.contains("a1") | run.edges["target"].str.contains("a1")]
        assert sorted(rows) == sorted(zip(wanted["source"], wanted["target"], strict=True))


def test_filters_combine_with_search_and_sorting(opened: Open, run: Run) -> None:
    names = np.array([*run.classes, "unknown"])[run.label]  # -1 is the last one
    nodes = run.nodes.assign(kind=names)
    kind_of = dict(zip(nodes["node"], names, strict=True))
    with opened() as page:
        kinds, labelled = page.locator("#nodes-class"), page.locator("#nodes-labelled")
        for kind in set(names):
            kinds.select_option(label=kind)
            assert set(column(page, "nodes", "Node")) == set(nodes["node"][nodes["kind"] == kind])
        kinds.select_option(label="All classes")
        labelled.select_option(label="Other only")
        assert set(column(page, "nodes", "Node")) == set(nodes["node"][~nodes["labelled"]])
        labelled.select_option(label="Labelled only")
        assert set(column(page, "nodes", "Labelled")) == {"yes"}
        kinds.select_option(label="red")
        wanted = nodes[nodes["labelled"] & (nodes["kind"] == "red")].sort_values("value")
        assert column(page, "nodes", "Node") == wanted["node"].tolist()[::-1]
        expect(page.locator("#nodes-count")).to_have_text(f"Showing {len(wanted)} of {len(nodes)} nodes")
        page.locator("#nodes-table th", has_text="Value").first.get_by_role("button").click()
        assert column(page, "nodes", "Node") == wanted["node"].tolist()
        page.locator("#nodes-search").fill(wanted["node"].iloc[0])
        assert column(page, "nodes", "Node") == [name for name in wanted["node"] if wanted["node"].iloc[0] in name]
        page.locator("#edges-class").select_option(label="blue")
        ends = set(zip(column(page, "edges", "Source"), column(page, "edges", "Target"), strict=True))
        every = set(zip(run.edges["source"], run.edges["target"], strict=True))
        assert ends == {pair for pair in every if "blue" in {kind_of[end] for end in pair}}
        assert 0 < len(ends) < len(every)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Path]:
    """A run with more nodes than the table draws at first, and its report."""
    run = small_run(tmp_path_factory.mktemp("demo"), pw.load("demo"), head=HEAD, permutations=10)
    path = run.directory / "report.html"
    path.write_text(report.page(run), encoding="utf-8")
    return run, path


def test_more_rows_on_demand(opened: Open, demo: tuple[Run, Path]) -> None:
    _, path = demo
    with opened(path) as page:
        rows, more, count = page.locator("#nodes-table tbody tr"), page.locator("#nodes-more"), "#nodes-count"
        for drawn, button in ((200, "Show 200 more"), (400, "Show the remaining 167")):
            expect(rows).to_have_count(drawn)
            expect(page.locator(count)).to_have_text(f"Showing {drawn} of 567 nodes")
            expect(more).to_have_text(button)
            more.click()
        expect(rows).to_have_count(567)
        expect(page.locator(count)).to_have_text("Showing 567 of 567 nodes")
        expect(more).to_be_hidden()
        page.locator("#nodes-labelled").select_option(label="Other only")
        expect(rows).to_have_count(200)
        expect(page.locator(count)).to_have_text("Showing 200 of 427 matching nodes (567 in total)")
        assert len(download(page, "nodes")) == 427  # also the rows that are not drawn yet


def test_rows_close_to_zero_are_marked(opened: Open, demo: tuple[Run, Path]) -> None:
    run, path = demo
    columns = (run.edges[name].tolist() for name in ("source", "target", "value", "stderr"))
    quantile = stats.t.ppf(0.975, run.story["permutations"] - 1)
    numbers = {(source, target): (value, stderr) for source, target, value, stderr in zip(*columns, strict=True)}
    with opened(path) as page:
        names = zip(column(page, "edges", "Source"), column(page, "edges", "Target"), strict=True)
        rows = page.locator("#edges-table tbody tr").all()
        seen = set()
        for pair, row, effect in zip(names, rows, column(page, "edges", "Effect"), strict=True):
            value, stderr = numbers[pair]
            unclear = bool(stderr > 0 and abs(value) <= quantile * stderr)
            assert effect == ("unclear" if unclear else "helps" if value > 0 else "harms" if value < 0 else "no effect")
            assert ("unclear" in (row.get_attribute("class") or "")) == unclear
            seen.add(unclear)
        assert seen == {True, False}
        expect(page.locator("#edges-table abbr").first).to_have_attribute(
            "title", "the 95% interval contains zero or is unknown"
        )
        expect(page.locator("#edges-note")).to_contain_text("its interval contains zero")


def test_the_download_holds_the_rows_that_match(opened: Open, run: Run) -> None:
    table = run.nodes.set_index("node")
    within = dict(
        zip(zip(run.edges["source"], run.edges["target"], strict=True), run.edges_within_class(), strict=True)
    )
    with opened() as page:
        assert [row["node"] for row in download(page, "nodes")] == column(page, "nodes", "Node")
        page.locator("#nodes-labelled").select_option(label="Labelled only")
        rows = download(page, "nodes")
        assert {row["node"] for row in rows} == set(run.nodes["node"][run.nodes["labelled"]])
        for row in rows:
            for name in ("value", "stderr", "value_path", "stderr_path", "players"):
                assert float(row[name]) == pytest.approx(table.loc[row["node"], name], abs=1e-4)
            assert row["labelled"] == "True"
            assert {"class", "effect", "degree", "distance"} <= row.keys()
        edges = download(page, "edges")
        assert {(row["source"], row["target"]): float(row["within_class"]) for row in edges} == pytest.approx(
            within, abs=1e-4
        )
        assert [number(text) for text in column(page, "edges", "Within class")] == pytest.approx(
            [float(row["within_class"]) for row in edges]
        )


def test_the_download_keeps_difficult_ids(opened: Open, tmp_path: Path) -> None:
    run = small_run(tmp_path, named_graph(ids=HOSTILE, classes=HOSTILE_CLASSES))
    path = tmp_path / "report.html"
    path.write_text(report.page(run), encoding="utf-8")
    with opened(path) as page:
        assert {row["node"] for row in download(page, "nodes")} == set(run.nodes["node"])


@pytest.mark.parametrize("table", ["nodes", "edges"])
def test_a_phone_shows_values_without_scrolling(opened: Open, demo: tuple[Run, Path], table: str) -> None:
    with opened(demo[1], viewport={"width": 390, "height": 780}) as page:
        frame = page.locator(f"#{table} .scroll").bounding_box()
        assert frame is not None
        titles = page.locator(f"#{table}-table th").all_inner_texts()
        for title in ("Value", "±"):
            cell = page.locator(f"#{table}-table tbody tr:first-child td").nth(titles.index(title)).bounding_box()
            assert cell is not None
            assert cell["x"] + cell["width"] <= frame["x"] + frame["width"]


def test_a_path_in_a_warning_keeps_its_case(opened: Open, run: Run, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(report.page(with_story(run, warnings=["fw/edges.csv has more columns"])), encoding="utf-8")
    with opened(path) as page:
        item = page.locator(".warnings li")
        assert item.inner_text() == "fw/edges.csv has more columns"
        assert item.evaluate("e => getComputedStyle(e, '::first-letter').textTransform") == "none"


def test_rows_of_tables_lead_to_the_graph(opened: Open, run: Run) -> None:
    name = strongest(run)
    with opened() as page:
        page.locator("#nodes-table").get_by_role("link", name=name, exact=True).click()
        check_panel(page, run, name)
        expect(page.locator("#canvas")).to_be_in_viewport()
        expect(page.locator("#nodes-table tr.chosen")).to_have_count(1)
        row = page.locator("#edges-table tbody tr").first
        ends = row.locator("a.node").all_inner_texts()
        row.get_by_role("link", name="Show edge").focus()
        page.keyboard.press("Enter")
        expect(page.locator("#panel h3")).to_have_text(f"Edge {ends[0]} \N{EN DASH} {ends[1]}")
        box = page.locator("#canvas").bounding_box()
        assert box is not None
        for end in ends:
            x, y = page.evaluate("id => window.pcwinter.position(id)", end)
            assert 0 < x < box["width"]
            assert 0 < y < box["height"]


def test_html_in_ids_and_names_does_not_run(opened: Open, tmp_path: Path) -> None:
    run = small_run(tmp_path, named_graph(ids=HOSTILE, classes=HOSTILE_CLASSES))
    path = tmp_path / "report.html"
    path.write_text(report.page(run), encoding="utf-8")
    with opened(path) as page:
        assert set(run.nodes["node"]) <= set(HOSTILE)
        for name in run.nodes["node"]:
            click_node(page, name)
            shown = page.locator("#panel h3").evaluate("element => element.textContent")
            assert shown == f"Node {name}"
        cells = page.locator("#nodes-table tbody td:first-child").evaluate_all("cells => cells.map(c => c.textContent)")
        assert set(cells) == set(run.nodes["node"])
        expect(page).to_have_title("What the nodes and edges of small are worth")
        assert page.locator("img, b, script:not([type])").count() == 1  # the script of the page


@pytest.mark.parametrize("width", [360, 390, 768])
def test_a_phone_scrolls_in_one_direction(opened: Open, run: Run, tmp_path: Path, width: int) -> None:
    hostile = small_run(tmp_path, named_graph(ids=HOSTILE, classes=HOSTILE_CLASSES))
    path = tmp_path / "report.html"
    path.write_text(report.page(hostile), encoding="utf-8")
    for which, name in ((None, strongest(run)), (path, strongest(hostile))):
        place = {} if which is None else {"path": which}
        with opened(**place, viewport={"width": width, "height": 780}, has_touch=True) as page:
            x, y = page.evaluate("id => window.pcwinter.position(id)", name)
            page.locator("#canvas").tap(position={"x": x, "y": y})
            expect(page.locator("#said")).to_contain_text("Node ")
            page.locator("summary").click()
            assert page.evaluate("document.documentElement.scrollWidth") == width


CONTRAST = """() => {
  const channels = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = (c) => { const s = c / 255; return s <= 0.03928 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4; };
  const luminance = ([r, g, b]) => 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b);
  const ground = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const colour = channels(getComputedStyle(e).backgroundColor);
      if (colour.length === 3 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const poor = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    const element = text.parentElement;
    if (!text.data.trim() || !element.checkVisibility() || element.closest("script, style")) continue;
    const style = getComputedStyle(element);
    const ink = element.namespaceURI.endsWith("svg") ? style.fill : style.color;
    const [a, b] = [luminance(channels(ink)), luminance(ground(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) poor.push(`${text.data.trim().slice(0, 30)}: ${ratio.toFixed(2)}`);
  }
  return poor;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_has_contrast(opened: Open, run: Run, scheme: str) -> None:
    with opened(color_scheme=scheme) as page:
        click_node(page, strongest(run))
        page.locator("summary").click()
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert ground == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 23, 27)")
        assert page.evaluate(CONTRAST) == []


def test_on_paper_there_is_nothing_to_press(opened: Open, run: Run) -> None:
    with opened(color_scheme="dark") as page:
        page.emulate_media(media="print", color_scheme="dark")
        for kind in ("button", "input", "select", "nav"):
            for element in page.locator(kind).all():
                expect(element).to_be_hidden()
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert page.evaluate(CONTRAST) == []
        expect(page.locator("#nodes-table th", has_text="Degree").locator("span")).to_be_visible()
        assert page.locator("figure svg[role=img]").count() >= 7


def test_without_javascript_the_summary_and_the_charts_are_there(browser: Browser, file: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(file.as_uri())
    for words in ("What the numbers mean", "Labelled nodes", "dropping"):
        expect(page.get_by_text(words).first).to_be_visible()
    context.close()


def test_the_panel_of_an_edge_says_whether_it_is_complete(
    opened: Open, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened() as page:
        page.locator("#edges-table").get_by_role("link", name="Show edge").first.click()
        expect(page.locator("#panel h4")).to_have_text("Players whose last step is this edge")
        expect(page.locator("#panel")).not_to_contain_text("players.npz")
    monkeypatch.setattr(data, "PATHS", 37)  # one less than there are
    monkeypatch.setattr(data, "PER_ROOT", 1)
    path = tmp_path / "report.html"
    path.write_text(report.page(run), encoding="utf-8")
    with opened(path) as page:
        headings = set()
        for link in page.locator("#edges-table").get_by_role("link", name="Show edge").all():
            link.click()
            headings.add(page.locator("#panel h4").inner_text())
        assert "Strong players whose last step is this edge" in headings
