"""The stand-ins of one process."""

from __future__ import annotations

from pathlib import Path

from demo.simulators.dify.service import DifyService
from demo.simulators.http import Service
from demo.simulators.llm.service import LlmService
from demo.simulators.oidc.service import OidcService
from demo.simulators.phone.service import PhoneService
from demo.simulators.redcap.service import RedcapService
from demo.simulators.state import State
from demo.simulators.wecom.service import WecomService


def build_services(state: State, study_dir: Path) -> list[Service]:
    """REDCap, Dify, WeCom, LLM, the hospital's log-in and the phone page, sharing `state`."""
    wecom = WecomService(state)
    return [
        RedcapService(state, study_dir),
        DifyService(state, study_dir),
        wecom,
        LlmService(state),
        OidcService(state),
        PhoneService(state, wecom),
    ]
