"""A capable model over HTTP, for the frozen set: what it fills `ask` with, and a plan of what there is."""

from __future__ import annotations

import json
import re
from typing import Any

from demo.accepting import cases
from tests.answers.model import SAID, Json, Model, purpose_of

ITEM: Json = {
    **{"task": "data", "shape": "value", "subjects": [], "fields": [], "place": [], "site": []},
    **{"where": [], "of": [], "rows": "none", "n": 0, "figure": "none", "by": [], "from": ""},
    **{"to": "", "versus": [], "follows": False, "quotes": [], "unclear": [], "search": ""},
}


def _of(
    subject: str, *fields: str, place: str = "", shape: str = "value", quotes: str = ""
) -> Json:
    return {
        "subjects": [subject],
        "fields": list(fields),
        "place": [place] if place else [],
        "shape": shape,
        "quotes": quotes.split(),
    }


def _one(field: str, op: str, value: str, quote: str) -> Json:
    return {"field": field, "op": op, "value": value, "quote": quote, "not": False}


# Question -> what a reader that understands it fills in; the grammar reads the others by itself.
READ: dict[str, Json] = {
    "A01": _of("P016", "alt", place="V2", quotes="化验出来是几 麻烦看一下 那回"),
    "A02": _of("P005", "drug_compliance", place="V2", quotes="到底有多少 的时候"),
    "A03": _of("P032", "plt", place="基线", quotes="报的数"),
    "A07": _of("P013", "wbc", shape="series", quotes="变成多少了 从基线到V2") | {"place": ["基线", "V2"]},
    "A08": _of("P018", "withdraw_date", shape="when", quotes="在哪天"),
    "A09": _of("P018", "subject_status", "status_reason", quotes="脱落退出 表里写的原因是什么"),
    "A10": _of("P025", "status_reason", quotes="筛选失败 表里写的原因是什么"),
    "A11": _of("P003", "allergy_history", quotes="对什么药过敏"),
    "A12": _of("P019", "cm_end", shape="when", quotes="用到哪天停的")
    | {"where": [_one("cm_name", "contains", "酮康唑片", "酮康唑片")]},
    "A13": _of("P011", "ae_grade", quotes="得 那回 分级是几级")
    | {"where": [_one("ae_term", "contains", "急性胆囊炎", "急性胆囊炎")]},
    "A15": _of("P032", "ae_term", shape="rows", quotes="报过哪几条 名称列一下"),
    "A16": _of("P006", "ae_outcome", quotes="现在什么转归")
    | {"where": [_one("ae_term", "contains", "乏力", "乏力")]},
    "A17": _of("P031", "first_dose_date", shape="when", quotes="填的是哪一天"),
    "A19": _of("P020", "age_calculated", quotes="那栏填的是多少"),
    "A20": _of("P008", "histology", quotes="是哪一种"),
    "A22": _of("P030", "vas", place="V2", quotes="打了多少分"),
    "A23": _of("P023", "cm_name", shape="rows", quotes="里的药名叫什么"),
    "A24": {"shape": "count", "where": [_one("enrolled", "=", "是", "入组了")],
            "quotes": ["到今天为止", "全研究", "几例"]},
    "A30": {"shape": "extreme", "fields": ["age_calculated"], "rows": "lowest",
            "quotes": ["年纪最小", "全研究", "谁"]},
    "A32": {"shape": "rows", "fields": ["ae_term"],
            "where": [_one("ae_grade", "=", "4级", "CTCAE分级到4级")], "quotes": ["出在谁身上"]},
    "A35": {"shape": "difference", "subjects": ["P001", "P003"], "fields": ["height_cm"],
            "rows": "highest", "quotes": ["谁更高", "两个人"]},
}  # fmt: skip


class Capable:
    """Answers as such a model: reads the cases of READ, tells facts and quotes rules, says nothing else."""

    def __init__(self, model: Model) -> None:
        """`model`: the server whose requests it notes."""
        self._model = model
        found = {one["id"]: one["text"] for one in cases()}
        # A subject may be masked on the way.
        masked = {key: re.sub(r"P\\?\d{3}", ".{3,30}?", re.escape(found[key])) for key in READ}
        self._texts = {key: re.compile(text) for key, text in masked.items()}

    def answer(self, body: Json) -> Json:
        """The reply to a request of the house."""
        said = "\n".join(str(one.get("content")) for one in body["messages"][1:])
        content = json.dumps(self._object(purpose_of(body), said), ensure_ascii=False)
        self._model.asked.append(body | {SAID: content})
        return {"content": content}

    def _object(self, purpose: str, said: str) -> dict[str, Any]:
        if purpose == "ask":
            known = [READ[key] for key, text in self._texts.items() if text.search(said)]
            return {"tasks": [ITEM | one for one in known[:1]]}
        marks = dict.fromkeys(re.findall(r"\[([A-Z]\d+[a-z]?)\]", said))
        steps = [
            {"op": "quote" if mark[0] == "D" else "tell", "of": [mark], "to": [], "show": []}
            for mark in [*marks][:4]
        ]
        return {"say": [one | {"end": "both"} for one in steps]} if purpose == "say" else {}
