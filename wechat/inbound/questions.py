"""A question through the engine: its last transaction ends the inbox row and stores the reply."""

from __future__ import annotations

from collections.abc import Callable

from core.house.db import atomic
from engines.assistant.chat import ChatReply, answer_message
from memory import session
from projects.models import Project
from wechat.inbound.job import CHANNELS, Job
from wechat.outbound import answers, choice_cards, feedback_cards, order_cards


class NoAnswer(Exception):
    """The engine came back without words: as good as a failure, because silence is no reply."""


def ask(
    job: Job, text: str, project: Project | None = None, also: Callable[[], None] | None = None
) -> None:
    """Answer a question, typed, said or tapped; ends in `job.finish`.

    `also`: what else the message does, first thing in the transaction that stores the reply.
    """

    def store(reply: ChatReply) -> None:
        if not reply.text.strip():
            raise NoAnswer
        if also:
            also()
        text, reader = reply.text, job.row.from_user
        if reply.table:
            text = answers.with_link(text, reply.table, to_user=reader, project=reply.project)
        job.finish(text, reply.project, reply.conversation_id)
        if not job.is_private:
            choice_cards.close_earlier(reader, job.row.pk)
        if CHANNELS[job.row.channel].rates_natively:
            return
        choice_cards.offer_choice_card(reply, reader, job.row.pk)
        if reply.order:
            order_cards.offer_order_card(reply, reader)
        elif not reply.choices:
            feedback_cards.offer_feedback_card(
                project=reply.project,
                to_user=reader,
                answer=reply.text,
                conversation_id=reply.conversation_id,
            )

    if job.speaker is None:
        raise NoAnswer  # a stranger's message never gets here
    with session.of_room(job.incoming.chat_id if job.is_private else ""):
        reply = answer_message(
            person=job.speaker.person,
            text=text,
            project_code=project.code if project else None,
            in_transaction=store,
        )
    if not job.finished:
        with atomic():
            store(reply)
