"""URL map of the monolith (contracts.md, HTTP)."""

from django.contrib import admin
from django.urls import include, path, re_path
from django.views.generic import RedirectView
from django.views.i18n import set_language
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from engines.views import data_entry_trigger
from iit_manager import health, search
from iit_manager.api import urlpatterns as api
from iit_manager.manual import help_view
from iit_manager.problems import API, Unknown, no_site
from projects.switcher import choose_view
from wechat.views import simulator

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="admin:index")),
    path("admin/", include("memory.urls")),
    path("admin/", include("engines.urls")),
    path("admin/r/<path:address>", no_site),
    path("admin/search/", search.view),
    path("admin/help/<str:chapter>/", help_view, name="help"),
    path("admin/study/", choose_view, name="choose_study"),
    path("", include("projects.login.urls")),
    path("admin/", admin.site.urls),
    path("i18n/setlang/", set_language, name="set_language"),
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("metrics", health.metrics),
    path("account/wecom/", include("wechat.scan_urls")),
    path("wechat/", include("wechat.urls")),
    path("redcap/det/<str:secret>/", data_entry_trigger),
    path("redcap/det/<str:secret>", data_entry_trigger),
    path("simulator/", simulator),
    path("simulator/<path:path>", simulator),
    path("api/v1/schema/", SpectacularAPIView.as_view(), name="schema"),
    path("api/v1/docs/", SpectacularSwaggerSplitView.as_view(url_name="schema")),
    path("api/v1/", include(api)),
    re_path(rf"^{API}(?:/|\Z)", Unknown.as_view(), name="unknown"),
]
handler400 = "iit_manager.problems.bad_request_problem"
handler500 = "iit_manager.problems.server_error_problem"
