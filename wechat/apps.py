from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class WechatConfig(AppConfig):
    name = "wechat"
    verbose_name = _("WeCom")
