"""Settings, all from the environment (contracts.md, "Settings from the environment")."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import django_stubs_ext
from csp.constants import NONE, SELF, UNSAFE_EVAL
from django.utils.translation import gettext_lazy as _

from iit_manager.env import database, envbool, envint, envlist, envstr, load_dotenv
from iit_manager.private import keep_private
from iit_manager.unfold import UNFOLD as UNFOLD

django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = Path(envstr("VAR_DIR") or BASE_DIR / "var")
keep_private(VAR_DIR)
STATIC_ROOT = VAR_DIR / "static"
STATIC_ROOT.mkdir(parents=True, exist_ok=True)
load_dotenv(Path(envstr("ENV_FILE") or BASE_DIR / ".env"))

VERSION = "0.1.0"
DEBUG = envbool("DEBUG")
SECRET_KEY = envstr("SECRET_KEY")
FIELD_ENCRYPTION_KEYS = envlist("FIELD_ENCRYPTION_KEYS")
# Blank: a file in VAR_DIR (projects.audit_anchors).
AUDIT_ANCHORS = envstr("AUDIT_ANCHORS")
ALLOWED_HOSTS = envlist("ALLOWED_HOSTS", "127.0.0.1,localhost,[::1]" if DEBUG else "")
PORT = envint("PORT", 8000)
SIM_PORT = envint("SIM_PORT", 9000)
MCP_PORT = envint("MCP_PORT", 8010)
MCP_TOKEN = envstr("MCP_TOKEN")
PUBLIC_URL = envstr("PUBLIC_URL", f"http://127.0.0.1:{PORT}" if DEBUG else "").rstrip("/")
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL] if PUBLIC_URL else []
DEMO_TODAY = envstr("DEMO_TODAY")

INSTALLED_APPS = [
    "unfold",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "django_filters",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_celery_beat",
    "markdownx",
    "axes",
    "csp",
    "allauth",
    "allauth.account",
    "allauth.socialaccount",
    "allauth.mfa",
    "core.house",
    "projects",
    "study",
    "core.llm",
    "skills",
    "memory",
    "engines",
    "wechat",
    "demo",
]

MIDDLEWARE = [
    "core.house.middleware.limit_body",
    "core.house.middleware.RequireRightKeys",
    "wechat.middleware.CallbacksFirst",
    "core.house.middleware.trust_proxies",
    "core.house.middleware.refuse_nul",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "core.house.middleware.forbid_storing",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "core.house.middleware.choose_language",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "core.house.middleware.limit_strangers",
    "core.house.current_login.CurrentLogin",
    "core.house.request_cache.RequestCache",
    "core.house.sessions.SessionEnds",
    "allauth.account.middleware.AccountMiddleware",
    "projects.login.second.DemandSecondFactor",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "iit_manager.urls"
WSGI_APPLICATION = "iit_manager.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "iit_manager.manual.help_here",
                "projects.login.page.console_look",
            ],
        },
    },
]

DATABASES = {"default": database(envstr("DATABASE_URL"), VAR_DIR)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
EMBEDDED = not envstr("DATABASE_URL") or not envstr("REDIS_URL")

REDIS_URL = envstr("REDIS_URL")
CACHES = {
    "default": (
        {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": REDIS_URL,
            "OPTIONS": {"serializer": "core.house.cache.JSONSerializer"},
        }
        if REDIS_URL
        else {
            "BACKEND": "core.house.cache.JSONTableCache",
            "LOCATION": "iit_cache",
            "OPTIONS": {"MAX_ENTRIES": 100_000},
        }
    )
}

CELERY_BROKER_URL = REDIS_URL or "djangodb://"
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {"polling_interval": 0.2, "visibility_timeout": 360}
# One worker takes a message of each queue in turn, with either broker: what one of them is flooded with
# holds up the others by one task. Each has an exchange of its own, else all messages go to all queues.
CELERY_TASK_QUEUES = {
    name: {"exchange": name, "routing_key": name} for name in ("celery", "people", "changes")
}
CELERY_TASK_ROUTES = {
    "wechat.tasks.process_inbox": {"queue": "people"},
    "wechat.tasks.send_lane": {"queue": "people"},
    "engines.tasks.answer_question": {"queue": "people"},
    "engines.tasks.read_changed": {"queue": "changes"},
    "engines.tasks.follow_changes": {"queue": "changes"},
}
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SOFT_TIME_LIMIT = 300
CELERY_TASK_TIME_LIMIT = 330
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_ENABLE_REMOTE_CONTROL = bool(REDIS_URL)
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BEAT_SCHEDULER = "django_celery_beat.schedulers:DatabaseScheduler"
CELERY_BEAT_MAX_LOOP_INTERVAL = 5
CELERY_TIMEZONE = "Asia/Shanghai"
WORKER_NICE = envint("WORKER_NICE", 10, least=0, most=19)
WAKE_REST_S = 0.05  # between two messages that wake workers (house.task_queue)
CHAT_WAIT_S = 30.0  # so long POST chat/ waits for the worker (contracts.md)
SWEEPERS = ["wechat.tasks.sweep", "engines.tasks.sweep_runs"]
# None waits longer than an hour: before its first run a job counts from beat's start, and some houses switch
# their computer off each evening.
CELERY_BEAT_SCHEDULE = {
    "heartbeat": {"task": "projects.tasks.heartbeat", "schedule": 15.0, "args": ["beat"]},
    "sweep messages": {"task": SWEEPERS[0], "schedule": 30.0},
    "sweep runs": {"task": SWEEPERS[1], "schedule": 30.0},
    "fire missed skills": {"task": "engines.tasks.fire_missed_skills", "schedule": 60.0},
    "partitions": {"task": "memory.tasks.prepare_partitions", "schedule": 3600.0},
    "distil memory": {"task": "memory.tasks.distil_days", "schedule": 3600.0},
    "prune memory": {"task": "memory.tasks.prune_memories", "schedule": 3600.0},
    "check days": {"task": "engines.tasks.check_days", "schedule": 3600.0},
    "check models": {"task": "engines.tasks.check_models", "schedule": 3600.0},
    "weekly reports": {"task": "engines.tasks.write_reports", "schedule": 3600.0},
    "profile users": {"task": "memory.tasks.profile_users", "schedule": 3600.0},
    "forget flow log": {"task": "memory.tasks.purge_flow_logs", "schedule": 3600.0},
    "forget turns": {"task": "memory.tasks.forget_turns", "schedule": 3600.0},
    "sweep turns": {"task": "memory.tasks.sweep_turns", "schedule": 300.0},
    "end sessions": {"task": "memory.tasks.summarize_sessions", "schedule": 600.0},
    "write reads": {"task": "projects.tasks.write_reads", "schedule": 600.0},
    "read subjects": {"task": "study.tasks.read_studies", "schedule": 240.0},
    "follow uploads": {"task": "study.tasks.follow_uploads", "schedule": 300.0},
    "forget readings": {"task": "study.tasks.forget_readings", "schedule": 3600.0},
}

AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "projects.login.page.PasswordsOff",
    "django.contrib.auth.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
    {"NAME": "projects.passwords.NotGuessable"},
]
LOGIN_URL = "admin:login"
LOGIN_REDIRECT_URL = "admin:index"
# How people log in (docs/operating/login.md): the hospital's own provider, WeCom's scan, local passwords.
OIDC_ISSUER = envstr("OIDC_ISSUER").rstrip("/")
OIDC_CLIENT_ID = envstr("OIDC_CLIENT_ID")
OIDC_CLIENT_SECRET = envstr("OIDC_CLIENT_SECRET")
OIDC_NAME = envstr("OIDC_NAME")
OIDC_LOGIN_CLAIM = envstr("OIDC_LOGIN_CLAIM")
WECOM_SCAN = envbool("WECOM_SCAN")
LOCAL_PASSWORDS = envbool("LOCAL_PASSWORDS", True)
MFA_ROLES = envlist("MFA_ROLES")
ACCOUNT_ADAPTER = "projects.login.adapters.AccountAdapter"
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*"]
ACCOUNT_REAUTHENTICATION_METHODS = ["password", "mfa"]
SOCIALACCOUNT_ADAPTER = "projects.login.adapters.SocialAdapter"
SOCIALACCOUNT_REQUESTS_TIMEOUT = 8
MFA_ADAPTER = "projects.login.adapters.MfaAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_FORMS = {
    "authenticate": "projects.login.second.CodeForm",
    "reauthenticate": "projects.login.second.AgainForm",
    "activate_totp": "projects.login.second.ActivateForm",
}
MFA_TOTP_ISSUER = "IIT Manager"
# A telephone's clock may be half a minute off.
MFA_TOTP_TOLERANCE = 1
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = DEBUG
AXES_FAILURE_LIMIT = 8
AXES_COOLOFF_TIME = 0.25
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_VERBOSE = False

LANGUAGE_CODE = "zh-hans"
LANGUAGES = [("zh-hans", _("Simplified Chinese")), ("en", _("English"))]
LOCALE_PATHS = [BASE_DIR / "locale", BASE_DIR / "locale" / "packages"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "Asia/Shanghai"

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": (
            "django.contrib.staticfiles.storage.StaticFilesStorage"
            if DEBUG
            else "whitenoise.storage.CompressedManifestStaticFilesStorage"
        )
    },
}
WHITENOISE_USE_FINDERS = DEBUG

# The end of a log-in (core/house/sessions.py): without use, and in any case.
SESSION_IDLE_MINUTES = envint("SESSION_IDLE_MINUTES", 30, least=2)
SESSION_HOURS = envint("SESSION_HOURS", 24, least=1)
SESSION_COOKIE_AGE = SESSION_IDLE_MINUTES * 60
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = not DEBUG or PUBLIC_URL.startswith("https://")
# Only the header of a named proxy comes so far (core/house/proxies.py).
TRUSTED_PROXIES = envlist("TRUSTED_PROXIES")
# Who may read /metrics and the description of the API without a login (core/house/inspection.py).
INSPECTION_TOKEN = envstr("INSPECTION_TOKEN")
INSPECTION_NETWORKS = envlist("INSPECTION_NETWORKS", "127.0.0.1,::1" if DEBUG else "")
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_SSL_REDIRECT = not DEBUG
SECURE_SSL_HOST = urlsplit(PUBLIC_URL).netloc or None
# Probes and counters are asked on the machine itself or inside the house, without the proxy.
SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz|metrics)$"]
SECURE_HSTS_SECONDS = 0 if DEBUG else 365 * 86400
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
# The largest body of a request, and what takes more: files, and exports that are taken over again.
DATA_UPLOAD_MAX_MEMORY_SIZE = 1_048_576
BODY_LIMITS = {
    "/admin/study/protocoldocument/upload/": 31 * 1_048_576,
    "/admin/study/protocoldocument/": 2 * 1_048_576,
    "/admin/skills/skill/import/": 3 * 1_048_576,
    "/admin/skills/qualityrule/upload/": 3 * 1_048_576,
    "/admin/skills/fieldmapping/lines/": 2 * 1_048_576,
    "/api/v1/skills/import/": 7 * 1_048_576,
    "/api/v1/protocol-documents/": 2 * 1_048_576,
    "/wechat/": 512 * 1024,
    "/redcap/": 64 * 1024,
}
# No upload is written to the disk.
FILE_UPLOAD_MAX_MEMORY_SIZE = max(BODY_LIMITS.values())
# Unfold's Alpine.js evaluates expressions (reference/django_style.md 2, problem 5).
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF, UNSAFE_EVAL],
        "style-src": [SELF, "'unsafe-inline'"],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [SELF],
        "frame-ancestors": [NONE],
        "form-action": [SELF],
    }
}

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "projects.tokens.HashedTokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": [
        "rest_framework.permissions.IsAuthenticated",
        "projects.token_scopes.WithinScope",
    ],
    "DEFAULT_PARSER_CLASSES": [
        "core.house.parsers.DeepJSONParser",
        "rest_framework.parsers.FormParser",
    ],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.PageNumberPagination",
    "PAGE_SIZE": 50,
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "core.house.api_errors.exception_handler",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "IIT Manager",
    "VERSION": VERSION,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["core.house.inspection.MayInspect"],
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "iit_manager.problems.documented",
    ],
}

MARKDOWNX_MARKDOWNIFY_FUNCTION = "core.house.markdown.render"

# REDCap bans an address for good at 600 requests a minute (reference/redcap_dify.md 1.9).
REDCAP_REQUESTS_PER_SECOND = 2.0
# The first pause before an outside service is asked again; the next ones are longer.
REDCAP_RETRY_PAUSE_S, DIFY_RETRY_PAUSE_S, LLM_RETRY_PAUSE_S = 0.5, 0.5, 0.4
# How old the list of subjects may be that names in a question are looked up in.
ROSTER_MAX_AGE_S = envint("ROSTER_MAX_AGE_S", 300, least=0)

# Addresses inside the house that may be asked, without TLS too (core/privacy/outbound_policy.py).
PRIVATE_HTTP_HOSTS = envlist("PRIVATE_HTTP_HOSTS") + (["127.0.0.1", "::1"] if DEBUG else [])

# Demo values exist only with DEBUG; a production start without the real ones is refused (checks.py).
_SIM = f"http://127.0.0.1:{SIM_PORT}"
DEMO_VALUES = {
    "WECOM_CORP_ID": "ww00000000000000de",
    "WECOM_SECRET": "demo-secret-of-the-stand-in",
    "WECOM_TOKEN": "demoToken",
    "WECOM_AES_KEY": "demo0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabc",
    "WECOM_AIBOT_TOKEN": "demoBotToken",
    "WECOM_AIBOT_AES_KEY": "bot00123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabc",
    "LLM_API_KEY": "demo-key",
}
_demo = DEMO_VALUES if DEBUG else dict.fromkeys(DEMO_VALUES, "")
WECOM_CORP_ID = envstr("WECOM_CORP_ID", _demo["WECOM_CORP_ID"])
WECOM_AGENT_ID = envint("WECOM_AGENT_ID", 1000002 if DEBUG else 0)
WECOM_SECRET = envstr("WECOM_SECRET", _demo["WECOM_SECRET"])
WECOM_TOKEN = envstr("WECOM_TOKEN", _demo["WECOM_TOKEN"])
WECOM_AES_KEY = envstr("WECOM_AES_KEY", _demo["WECOM_AES_KEY"])
WECOM_TOKEN_OLD = envstr("WECOM_TOKEN_OLD")
WECOM_AES_KEY_OLD = envstr("WECOM_AES_KEY_OLD")
WECOM_API_BASE = envstr(
    "WECOM_API_BASE", f"{_SIM}/wecom/cgi-bin" if DEBUG else "https://qyapi.weixin.qq.com/cgi-bin"
).rstrip("/")
WECOM_SCAN_URL = envstr("WECOM_SCAN_URL", "https://login.work.weixin.qq.com/wwlogin/sso/login")
WECOM_AIBOT_ID = envstr("WECOM_AIBOT_ID")
WECOM_AIBOT_TOKEN = envstr("WECOM_AIBOT_TOKEN", _demo["WECOM_AIBOT_TOKEN"])
WECOM_AIBOT_AES_KEY = envstr("WECOM_AIBOT_AES_KEY", _demo["WECOM_AIBOT_AES_KEY"])
WECOM_AIBOT_TOKEN_OLD = envstr("WECOM_AIBOT_TOKEN_OLD")
WECOM_AIBOT_AES_KEY_OLD = envstr("WECOM_AIBOT_AES_KEY_OLD")
# Set: the bot comes by its long connection, which `manage.py wecom_socket` holds.
WECOM_AIBOT_SECRET = envstr("WECOM_AIBOT_SECRET")
WECOM_AIBOT_SOCKET = envstr(
    "WECOM_AIBOT_SOCKET",
    f"ws://127.0.0.1:{SIM_PORT}/wecom/aibot/" if DEBUG else "wss://openws.work.weixin.qq.com",
)
WECOM_WINDOW_S = envint("WECOM_WINDOW_S", 600, least=1)
# 5000 characters are eight parts (wecom.md O15); 30 messages a minute reach a member.
WECOM_MOST_PARTS = envint("WECOM_MOST_PARTS", 8, least=1)
WECOM_REMIND_HOURS = envint("WECOM_REMIND_HOURS", 24, least=1)
WECOM_RETENTION_DAYS = envint("WECOM_RETENTION_DAYS", 30)

LLM_PRESET = envstr("LLM_PRESET", "local" if DEBUG else "")
_llm = (
    f"{_SIM}/llm/v1" if DEBUG and LLM_PRESET == "local" else ""
)  # others have an address of their own
LLM_BASE_URL = envstr("LLM_BASE_URL", _llm).rstrip("/")
LLM_API_KEY = envstr("LLM_API_KEY", _demo["LLM_API_KEY"])
LLM_MODEL = envstr("LLM_MODEL")
LLM_SMALL_MODEL = envstr("LLM_SMALL_MODEL")
# Which profile the Memory Manager fills: memory/people/schemas/.
MEMORY_SCHEMA = envstr("MEMORY_SCHEMA", "clinical")
LLM_TIMEOUT_S = envint("LLM_TIMEOUT_S", 60, least=1)
# Answers are plain until a study's model is accepted (core.llm.acceptance); with it goes the daily check.
REQUIRE_MODEL_ACCEPTANCE = envbool("REQUIRE_MODEL_ACCEPTANCE", not DEBUG)

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "plain": {
            "()": "iit_manager.logs.Lines",
            "format": "%(asctime)s %(levelname)s %(name)s %(message)s",
        }
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {"handlers": ["stderr"], "level": envstr("LOG_LEVEL", "INFO")},
    "loggers": {
        # Django's own handlers would say everything twice.
        "django": {"handlers": [], "level": "INFO"},
        "httpx": {"level": "WARNING"},
        "httpcore": {"level": "WARNING"},
        "httpx2": {"level": "WARNING"},
        "kombu.connection": {"level": "ERROR"},
        "openai": {"level": "WARNING"},
        "axes": {"level": "WARNING"},
        "django.security.DisallowedHost": {"level": "ERROR"},
    },
}
