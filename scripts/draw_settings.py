"""Draw docs/figures/settings.svg, the two settings of a graph side by side: python -m scripts.draw_settings."""

from pathlib import Path

FIGURE = Path(__file__).resolve().parents[1] / "docs" / "figures" / "settings.svg"
NODES = {  # place and kind
    "a": (50, 60, "train"),
    "b": (120, 40, ""),
    "c": (120, 110, "train"),
    "d": (60, 150, ""),
    "e": (200, 60, "val"),
    "f": (210, 130, "val"),
    "g": (140, 190, "test"),
    "h": (220, 200, "test"),
}
EDGES = [tuple(pair) for pair in ("ab", "bc", "cd", "ac", "be", "ef", "cf", "cg", "gh", "fh", "dg")]
COLOURS = {"train": "#1f5fa8", "": "#9aa4b0", "val": "#c8702a", "test": "#4c8c4a"}
WORDS = {"train": "labelled", "": "unlabelled", "val": "validation", "test": "test"}
WIDTH, HEIGHT = 270, 290


def drawing() -> str:
    """The picture as SVG."""
    panels = [_panel("inductive", 0), _panel("transductive", WIDTH)]
    keys = [
        f'<circle cx="{40 + 125 * k}" cy="{HEIGHT - 16}" r="7" fill="{COLOURS[kind]}"/>'
        f'<text x="{54 + 125 * k}" y="{HEIGHT - 11}">{word}</text>'
        for k, (kind, word) in enumerate(WORDS.items())
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDTH} {HEIGHT}" font-family="sans-serif" '
        'font-size="13" role="img">\n<title>The inductive setting cuts edges, the transductive one keeps all</title>\n'
        f'<rect width="{2 * WIDTH}" height="{HEIGHT}" fill="white"/>\n' + "\n".join([*panels, *keys]) + "\n</svg>\n"
    )


def _panel(setting: str, left: int) -> str:
    """One setting; edges that it cuts are dotted."""
    parts = [f'<text x="{left + 16}" y="22" font-weight="bold">setting="{setting}"</text>']
    for u, v in EDGES:
        (x1, y1, one), (x2, y2, other) = NODES[u], NODES[v]
        cut = setting == "inductive" and ({one, other} & {"val", "test"}) and one != other
        style = 'stroke="#c0c6cd" stroke-dasharray="2 5"' if cut else 'stroke="#4a525c"'
        parts.append(
            f'<line x1="{left + x1}" y1="{y1 + 25}" x2="{left + x2}" y2="{y2 + 25}" stroke-width="2" {style}/>'
        )
    for x, y, kind in NODES.values():
        parts.append(f'<circle cx="{left + x}" cy="{y + 25}" r="10" fill="{COLOURS[kind]}"/>')
    return "\n".join(parts)


if __name__ == "__main__":
    FIGURE.write_text(drawing(), encoding="utf-8")
    print(f"Written: {FIGURE}")
