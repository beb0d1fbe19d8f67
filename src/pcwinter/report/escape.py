"""Text from the user's files -> text that is safe to show: hidden characters become visible, HTML is escaped."""

import html
import re

HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(words: str) -> str:
    r"""The text with control characters, direction overrides and lone surrogates written as \uXXXX."""
    return HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", words)


def escape(words: str) -> str:
    """The text as HTML."""
    return html.escape(visible(words))
