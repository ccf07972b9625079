"""A click in the smart bot: taken note of at once, decided by a worker (wecom.md 5).

WeCom delivers it once and waits five seconds, too short for a decision that reads REDCap.
"""

from __future__ import annotations

import json
from typing import Any

from django.utils import translation
from django.utils.translation import gettext as _

from projects.models import Member
from wechat.inbound.parse import Incoming
from wechat.models import Card
from wechat.outbound.cards import fit_card
from wechat.reviews import review_cards


def receipt(incoming: Incoming) -> dict[str, Any]:
    """The clicked card without its buttons, for the member who clicked; nothing for a card not ours.

    A click that is asked for its reason leaves the buttons: nothing was decided.
    """
    card = Card.objects.filter(task_id=incoming.task_id).first()
    member = Member.objects.active_of(incoming.from_user).first()
    if card is None or member is None or member.wecom_userid not in card.to_user.split("|"):
        return {}
    if card.kind == review_cards.KIND and review_cards.lacks_reason(incoming):
        return {}
    with translation.override(member.language):
        shown = {**json.loads(card.content), "replace_text": fit_card(_("Received"), "button")}
    return {
        "response_type": "update_template_card",
        "userids": [incoming.from_user],
        "template_card": {**shown, "task_id": card.task_id},
    }
