"""The stand-ins of one process."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path

from simulators.http import Service
from simulators.state import State


def build_services(state: State, study_dir: Path) -> list[Service]:
    """REDCap, Dify, WeCom, LLM and the phone page, sharing `state`."""
    services: list[Service] = []
    for module, name in (("redcap", "RedcapService"), ("dify", "DifyService")):
        if importlib.util.find_spec(f"simulators.{module}.service"):
            cls = getattr(importlib.import_module(f"simulators.{module}.service"), name)
            services.append(cls(state, study_dir))
    wecom = None
    for module, name in (("wecom", "WecomService"), ("llm", "LlmService")):
        if _exists(module):
            service = getattr(importlib.import_module(f"simulators.{module}.service"), name)(state)
            wecom = service if module == "wecom" else wecom
            services.append(service)
    if _exists("phone") and wecom is not None:
        phone = importlib.import_module("simulators.phone.service")
        services.append(phone.PhoneService(state, wecom))
    return services


def _exists(module: str) -> bool:
    try:
        return importlib.util.find_spec(f"simulators.{module}.service") is not None
    except ModuleNotFoundError:
        return False
