"""Character 1-3-grams of a marked text: what the classifier sees of a message or a part."""

import re

from engines.assistant.intents import lexicon, marks, records
from engines.assistant.intents.concepts import concepts
from engines.assistant.intents.marks import Span
from engines.assistant.intents.normal import normalise

_LEAD = re.compile(
    r"^(?:[\s,。;:、!~.]|然后|接着|顺便|顺带|顺手|另外|此外|还有|再者|并且|同时|以及|完了|对了|而且|最后|并(?!发)"
    r"|我记得|我印象里|印象中|(?:and|then|also|btw|plus)\b|\(?\d\)|\d[.、](?!\d)|第[一二三]步|[一二三]是)+",
    re.IGNORECASE,
)
_TAIL = re.compile(r"[\s,。;:、!~.]+$")
_SPACE = re.compile(r"(?<![a-z0-9]) | (?![a-z0-9])")
# A medical report is a result of a subject, not a report to write.
_FINDING = re.compile(
    r"(病理|ct|mri|b超|检查|检验|化验|影像|体检|心电图?|胸片|超声|病检|基因|检测)报告"
)
# "After" behind what happened; before it, 以后 means "from now on".
_AFTERWARDS = re.compile(
    r"(?<=[^住好道行对错够长短多嗦慢快乱]了)([^,。;了完过\s你我请]{1,8})以后(?=\S)|(?<=[完过])()以后(?=\S)"
)
_QC = re.compile(r"(?<![a-z])qc(?![a-z])")


def mark(text: str, record_id_pattern: str | None = None) -> tuple[str, list[Span], list[Span]]:
    """Return normalised `text` with all marks (same length), its subjects and its visits."""
    subjects = records.record_spans(text, record_id_pattern)
    marked = marks.cover(text, subjects, marks.RECORD)
    found = marks.visits(marked)
    marked = marks.cover(marked, found, marks.VISIT)
    marked = marks.cover(marked, marks.dates(marked), marks.DATE)
    return marks.numbers(marks.people(marked)), subjects, found


def strip(marked: str) -> str:
    """Return the stretch of a marked text that is classified: no connective, no padding."""
    text = marked.replace(marks.PAD, "").lower().replace("您", "你")
    text = _TAIL.sub("", _LEAD.sub("", text))
    text = _AFTERWARDS.sub(r"\1\2之后", _QC.sub("质控", _SPACE.sub("", text)))
    return _FINDING.sub(r"\1结果", text)


def ngrams(stripped: str) -> set[str]:
    """Return the character 1-3-grams, with ^ and $ at the edges, word families and classes."""
    text = f"^{stripped}$"
    grams = {text[i : i + n] for n in (1, 2, 3) for i in range(len(text) - n + 1)}
    return grams | concepts(stripped) | lexicon.grams(stripped)


def from_raw(text: str) -> set[str]:
    """Return the features of a raw text, as used in training."""
    return ngrams(strip(mark(normalise(text))[0]))
