from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class MemoryConfig(AppConfig):
    name = "memory"
    verbose_name = _("Memory")

    def ready(self) -> None:
        from memory.agent import checks  # noqa: F401
        from memory.weekly import counts
        from projects import audit

        audit.register(
            **{
                "memory.save": "Hot memory changed",
                "memory.propose": "Memory proposed in chat",
                "memory.remove": "Memory line removed for good",
                "memory.return": "Removed memory line taken back",
                "memory.accept": "Memory proposal accepted",
                "memory.refuse": "Memory proposal refused",
                "memory.distil": "Day distilled into hot memory",
                "memory.learn": "Facts of a user kept",
                "memory.forget": "Facts of a user forgotten",
                "report.save": "Weekly report saved",
                "report.edit": "Weekly report edited",
                "log.purge": "Conversations deleted after their report",
            }
        )
        counts.register_sources()
