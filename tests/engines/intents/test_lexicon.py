"""The abstract reading of a text: `lexicon`."""

import json
from collections import Counter
from pathlib import Path

import pytest

from engines.assistant.intents import features, lexicon

WORDS = Path(lexicon.__file__).with_suffix(".json")
READINGS = {
    "查一下§的血小板": "L§F",
    "查下§的血红蛋白": "L§F",
    "帮我查一下§的血小板谢谢": "L§F",
    "哪个病人发烧": "HPS",
    "入选标准": "G",
    "周报": "R",
    "出一份周报": "MR",
    "": "",
    "xyzzy": "w",
    "alt": "F",
    "salt": "w",
    "§": "§",
    "囧囧": "囧囧",
}


@pytest.mark.parametrize(("text", "reading"), READINGS.items())
def test_words_become_their_class(text: str, reading: str) -> None:
    assert lexicon.abstract(text) == reading


def test_a_word_has_one_class() -> None:
    classes = json.loads(WORDS.read_text(encoding="utf-8"))
    words = Counter(word for text in classes.values() for word in set(text.split()))
    assert [word for word, times in words.items() if times > 1] == []


def test_classes_are_single_characters_no_text_contains() -> None:
    classes = json.loads(WORDS.read_text(encoding="utf-8"))
    assert all(len(name) == 1 and name == name.upper() for name in classes)


def test_words_are_spelt_as_texts_are() -> None:
    classes = json.loads(WORDS.read_text(encoding="utf-8"))
    words = [word for text in classes.values() for word in text.split()]
    assert [word for word in words if word != word.lower()] == []


def test_two_words_of_a_class_have_the_same_features() -> None:
    assert lexicon.grams("§的血小板") == lexicon.grams("§的血红蛋白")


def test_a_text_without_the_study_is_marked() -> None:
    assert "@nostudy" in lexicon.grams("红烧肉")
    assert "@nostudy" not in lexicon.grams("§的血压")


def test_the_classifier_sees_the_reading() -> None:
    assert lexicon.grams("查下§的血压") <= features.ngrams("查下§的血压")
