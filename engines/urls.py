"""Console pages of the engines that are no table, mounted before the console's catch-all."""

from django.urls import path

from engines.assistant.prompt_preview import sent_view
from engines.pages.amendment import flags_view, rehearsal_view
from engines.pages.papers import papers_view
from engines.pages.pictures import pictures_view
from engines.pages.site_risk import site_risk_view
from engines.pages.subject import subject_view
from engines.pages.trail_review import trail_review_view
from engines.pages.visit_board import board_view, calendar_view

urlpatterns = [
    path("visits/", board_view, name="visit_board"),
    path("visits/calendar.ics", calendar_view, name="visit_calendar"),
    path("papers/", papers_view, name="papers"),
    path("charts/", pictures_view, name="pictures"),
    path("site-risk/", site_risk_view, name="site_risk"),
    path("trail-reviews/", trail_review_view, name="trail_reviews"),
    path("what-would-be-sent/", sent_view, name="what_would_be_sent"),
    path(
        "study/protocoldocument/upload/<int:protocolupload>/rehearsal/",
        rehearsal_view,
        name="amendment_rehearsal",
    ),
    path(
        "study/protocoldocument/<int:protocoldocument>/touches/",
        flags_view,
        name="amendment_flags",
    ),
    path("study/subject/<int:pk>/page/", subject_view, name="subject_page"),
]
