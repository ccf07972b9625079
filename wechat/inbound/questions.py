"""A question through the engine: its last transaction ends the inbox row and stores the reply."""

from __future__ import annotations

from engines.assistant.chat import ChatReply, answer_message
from house.db import atomic
from projects.models import Project
from wechat.inbound.job import Job
from wechat.outbound import answers, channels, feedback_cards


class NoAnswer(Exception):
    """The engine came back without words: as good as a failure, because silence is no reply."""


def ask(job: Job, text: str, project: Project | None = None) -> None:
    """Answer a question, typed, said or tapped; ends in `job.finish`."""

    def store(reply: ChatReply) -> None:
        if not reply.text.strip():
            raise NoAnswer
        text, reader = reply.text, job.row.from_user
        if reply.sheet:
            text = answers.with_link(text, reply.sheet, to_user=reader, project=reply.project)
        job.finish(text, reply.project, reply.conversation_id)
        if not channels.of(job.row.channel).rates_natively:
            feedback_cards.offer(
                project=reply.project,
                to_user=job.row.from_user,
                answer=reply.text,
                conversation_id=reply.conversation_id,
            )

    if job.speaker is None:
        raise NoAnswer  # a stranger's message never gets here
    reply = answer_message(
        person=job.speaker.person,
        text=text,
        project_code=project.code if project else None,
        in_transaction=store,
    )
    if not job.finished:
        with atomic():
            store(reply)
