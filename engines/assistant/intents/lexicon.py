"""Word classes of the trade: a second, abstract reading of a text for the classifier.

`lexicon.json` holds the words of each class. The abstract reading puts the letter of the class in
the place of a word ("查下§的血小板" reads "L§F"), so one example stands for every word of a class.
"""

import json
import re
from functools import lru_cache
from pathlib import Path

FILLER = "~"
# Classes that speak of a study; a text without any is small talk, a comment or off topic.
_STUDY = frozenset("FSDCRPKGOVI§¶¤†")

_PATH = Path(__file__).with_name("lexicon.json")
_CLASS = re.compile(r"[A-Z*]")
_PIECE = re.compile(r"[a-z][a-z0-9.\-]*|.", re.DOTALL)


@lru_cache(maxsize=1)
def _words() -> tuple[dict[str, str], int]:
    """Return the class of every word, and the length of the longest."""
    classes: dict[str, str] = json.loads(_PATH.read_text(encoding="utf-8"))
    found = {word: name for name, text in classes.items() for word in text.split()}
    return found, max(map(len, found))


def words_of(name: str) -> list[str]:
    """The words of one class: "F" what is measured or asked of a subject, "S" what happens to them."""
    return [word for word, of in _words()[0].items() if of == name]


def abstract(stripped: str) -> str:
    """Return `stripped` with known words replaced by class letters and fillers left out."""
    words, longest = _words()
    pieces: list[str] = []
    at = 0
    while at < len(stripped):
        for length in range(min(longest, len(stripped) - at), 0, -1):
            word = stripped[at : at + length]
            name = words.get(word)
            if name and _whole(stripped, at, at + length):
                if name != FILLER:
                    pieces.append(name)
                at += length
                break
        else:
            match = _PIECE.match(stripped, at)
            word = match.group() if match else ""
            pieces.append(word if len(word) == 1 else "w")
            at += len(word)
    return "".join(pieces)


def _whole(text: str, start: int, end: int) -> bool:
    """Tell whether a Latin word is not the inside of a longer one."""
    if not text[start].isascii():
        return True
    before = start and text[start - 1].isascii() and text[start - 1].isalnum()
    after = end < len(text) and text[end].isascii() and text[end].isalnum()
    return not before and not after


def grams(stripped: str) -> set[str]:
    """Return features of the abstract reading: 1-3-grams with a class in them, and class sequences."""
    mixed = f"^{abstract(stripped)}$"
    pieces = (mixed[i : i + n] for n in (1, 2, 3) for i in range(len(mixed) - n + 1))
    found = {"~" + piece for piece in pieces if _CLASS.search(piece)}
    classes = "".join(c for c in mixed if c.isupper() or c in "^$§¶¤※*")
    found |= {"=" + classes[i : i + n] for n in (3, 4) for i in range(len(classes) - n + 1)}
    return found if _STUDY & set(classes) else found | {"@nostudy"}
