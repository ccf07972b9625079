"""The frame of a numbered reply is written by code alone: the session does not hand it to the model."""

from __future__ import annotations
