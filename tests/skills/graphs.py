"""Flow graphs for the tests of the skills."""

from __future__ import annotations

from typing import Any

# Seed 002, section 2.1, word for word.
SEED_QC: dict[str, Any] = {
    "name": "肺癌研究入组质控",
    "start_node": "baseline_check",
    "nodes": {
        "baseline_check": {
            "type": "hard_rule",
            "rules": [
                {"field": "age", "logic": {">=": [{"var": "age"}, 18]}, "message": "年龄<18岁"},
                {"field": "age", "logic": {"<=": [{"var": "age"}, 75]}, "message": "年龄>75岁"},
                {"field": "ecog", "logic": {"<=": [{"var": "ecog"}, 2]}, "message": "ECOG>2"},
            ],
            "on_pass": "history_check",
            "on_fail": "end_with_violation",
        },
        "history_check": {
            "type": "soft_instruction",
            "instruction": "检查既往史,排除间质性肺炎、活动性感染、严重心血管疾病。",
            "tools": ["read_clinical_data"],
            "on_pass": "medication_check",
            "on_fail": "end_review_required",
        },
        "human_review": {
            "type": "human_review",
            "description": "需要 CRC 人工复核",
            "on_approve": "end_success",
            "on_reject": "end_rejected",
        },
    },
}
# Seed 002, the cron example.
SEED_REMINDER: dict[str, Any] = {
    "start_node": "check_upcoming_visits",
    "nodes": {
        "check_upcoming_visits": {
            "type": "soft_instruction",
            "instruction": "查询未来 3 天内到期的访视,生成提醒列表",
            "tools": ["read_clinical_data"],
            "on_pass": "send_reminder",
            "on_fail": "end_no_visits",
        },
        "send_reminder": {
            "type": "soft_instruction",
            "instruction": "根据用户画像选择合适的通知方式和语气,发送提醒",
            "tools": ["send_message"],
            "on_pass": "end_success",
        },
    },
}


def hard(**edges: str) -> dict[str, Any]:
    rule = {"field": "age", "logic": {">=": [{"var": "age"}, 18]}, "message": "年龄<18岁"}
    return {"type": "hard_rule", "rules": [rule], **edges}


def soft(**edges: str) -> dict[str, Any]:
    return {"type": "soft_instruction", "instruction": "看既往史", **edges}


def human(**edges: str) -> dict[str, Any]:
    return {"type": "human_review", "description": "请复核", **edges}


def graph(start: str = "a", **nodes: dict[str, Any]) -> dict[str, Any]:
    return {"start_node": start, "nodes": nodes}
