"""What was worked out from a dictionary is kept as long as its content is the same."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Concatenate, ParamSpec, TypeVar

from study.metadata import StudyMetadata

P = ParamSpec("P")
T = TypeVar("T")


class _Known:
    """A dictionary that is compared by the hash of its content."""

    def __init__(self, metadata: StudyMetadata) -> None:
        self.metadata = metadata

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Known) and other.metadata.digest == self.metadata.digest

    def __hash__(self) -> int:
        return hash(self.metadata.digest)


def cache_by_dictionary(
    make: Callable[Concatenate[StudyMetadata, P], T],
) -> Callable[Concatenate[StudyMetadata, P], T]:
    """For a pure function of a dictionary and plain values."""

    @lru_cache(maxsize=32)
    def kept(known: _Known, *args: P.args, **kwargs: P.kwargs) -> T:
        return make(known.metadata, *args, **kwargs)

    @wraps(make)
    def call(metadata: StudyMetadata, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return kept(_Known(metadata), *args, **kwargs)  # type: ignore[arg-type]

    return call
