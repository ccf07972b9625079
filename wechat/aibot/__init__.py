"""智能机器人, the second channel: JSON callback, streams, native feedback (wecom.md 5)."""
