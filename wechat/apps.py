from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class WechatConfig(AppConfig):
    name = "wechat"
    verbose_name = _("WeCom")

    def ready(self) -> None:
        from projects import audit
        from wechat import (  # noqa: F401
            batch_messages,
            cards,
            checks,
            feedback_cards,
            metrics,
            notices,
            receivers,
            review_cards,
            send_message,
            welcome,
        )

        audit.register(
            **{
                "wechat.refused": "Unknown WeCom user refused",
                "wechat.decision_refused": "Decision through WeCom refused",
                "wechat.click_ignored": "Click on an unknown card ignored",
                "wechat.resent": "Message sent again",
                "wechat.rated": "Answer rated",
                "wechat.mended": "Alert closed",
            }
        )
        send_message.register_tool()
        cards.register(review_cards.KIND, review_cards.clicked)
        cards.register(feedback_cards.KIND, feedback_cards.clicked)
        cards.register(welcome.KIND, welcome.clicked)
        metrics.register()
