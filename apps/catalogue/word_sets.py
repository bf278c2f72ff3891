"""Lists of words, written as prose so that they stay short to read and to compare."""


def word_set(words: str) -> frozenset[str]:
    """Split words at white space: `word_set("not no never")`."""
    return frozenset(words.split())
