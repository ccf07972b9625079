"""Console pages of the engines that are no table, mounted before the console's catch-all."""

from django.urls import path

from engines.board.views import board_view, calendar_view
from engines.subject.views import subject_view

urlpatterns = [
    path("visits/", board_view, name="visit_board"),
    path("visits/calendar.ics", calendar_view, name="visit_calendar"),
    path("study/subject/<int:pk>/page/", subject_view, name="subject_page"),
]
