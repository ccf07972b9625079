"""Offline detection of the fifteen intents and of the subjects a message names."""

from engines.assistant.intents.detector import detect
from engines.assistant.intents.types import Detection, Intent, Part

__all__ = ["Detection", "Intent", "Part", "detect"]
