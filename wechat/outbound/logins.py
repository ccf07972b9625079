"""Telling people that a login of the console was linked with them, or taken from them."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext as _

from projects.models import Person
from wechat.outbound import outbox


def tell(person: Person, *, lost: str, gained: str) -> None:
    """One message to the person, where they have a WeCom userid. In the transaction that moves the login."""
    if not person.wecom_userid:
        return
    member = person.memberships.filter(is_active=True).first()
    with translation.override(member.language if member else settings.LANGUAGE_CODE):
        said = [
            lost and _('The login "%(login)s" is no longer linked with you.') % {"login": lost},
            gained and _('The login "%(login)s" is now linked with you.') % {"login": gained},
            _("If that is not right, please tell the administrator of the house."),
        ]
        text = "\n".join(filter(None, said))
    key = f"login:{uuid.uuid4().hex}"
    outbox.enqueue_text(to_user=person.wecom_userid, project=None, content=text, key=key)
