"""Workflows of a blinded study: one that reads what tells the arm, one that does not."""

from __future__ import annotations

TELLING = {
    "name": "drug level",
    "start_node": "check",
    "nodes": {
        "check": {
            "type": "hard_rule",
            "rules": [
                {
                    "id": "L1",
                    "field": "marker",
                    "logic": {"<": [{"var": "marker"}, 50]},
                    "message": "药物浓度过高",
                }
            ],
            "on_pass": "end_success",
            "on_fail": "ask",
        },
        "ask": {
            "type": "human_review",
            "description": "浓度是否属实?",
            "reviewers": ["CRC"],
            "on_approve": "end_success",
            "on_reject": "end_rejected",
        },
    },
}
CHECKS = {
    "name": "standard checks",
    "start_node": "check",
    "nodes": {
        "check": {
            "type": "hard_rule",
            "rules": [
                {
                    "id": "S1",
                    "field": "alt",
                    "logic": {"<": [{"var": "alt"}, 60]},
                    "message": "ALT 偏高",
                }
            ],
            "checks": {"required": {}, "range": {}, "type": {}, "choice": {}, "hidden": {}},
            "on_pass": "end_success",
            "on_fail": "end_review_required",
        }
    },
}
