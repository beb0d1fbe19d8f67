"""Foreign text -> text to show: what cannot be seen, or would turn a line around, is spelt out."""

import html
import re

HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(words: str) -> str:
    """The words with control characters, overrides of direction and halves of characters by their numbers."""
    return HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", words)


def escape(words: str) -> str:
    """The words as HTML."""
    return html.escape(visible(words))
