"""The plan of visits as pydantic models (contracts.md, `visit_window`: plan FILE)."""

from typing import Annotated, Self
from zoneinfo import ZoneInfo

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

FAR = 36_500
"""Days: a hundred years, so that a typing error cannot leave the calendar unnoticed."""


def _an_integer(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("must be an integer")
    return value


Days = Annotated[int, BeforeValidator(_an_integer), Field(ge=-FAR, le=FAR)]
Span = Annotated[int, BeforeValidator(_an_integer), Field(ge=0, le=FAR)]
Name = Annotated[str, Field(min_length=1)]


class VisitSpec(BaseModel):
    """One planned visit: Day `day` counted from `anchor_field`, open `minus` before to `plus` after.

    `event` says where `date_field` is entered when it occurs in several events, `arm` for whom: a REDCap arm
    ("arm_2", or "2" where no field says the arm) or a code of the plan's `arm_field`. Where a visit is planned
    for an arm, that window holds for its subjects and the one without an arm for all others.
    """

    model_config = ConfigDict(frozen=True)

    visit: Name
    anchor_field: Name
    date_field: Name
    day: Days
    minus: Span
    plus: Span
    event: str = ""
    arm: str = ""


class VisitPlanSpec(BaseModel):
    """All planned visits of a study with the conventions they are counted by."""

    model_config = ConfigDict(frozen=True)

    timezone: str = "Asia/Shanghai"
    anchor_is_day: Annotated[int, BeforeValidator(_an_integer), Field(ge=0, le=1)] = 1
    withdraw_field: str | None = None
    arm_field: str | None = None
    visits: list[VisitSpec]

    @field_validator("timezone")
    @classmethod
    def _known_zone(cls, name: str) -> str:
        try:
            ZoneInfo(name)
        except (KeyError, OSError, ValueError) as error:
            raise ValueError(f"no such time zone: {name}") from error
        return name

    @model_validator(mode="after")
    def _no_day_zero(self) -> Self:
        """With the anchor as Day 1 the day before it is Day -1 (CDISC has no Day 0)."""
        zero = [visit.visit for visit in self.visits if visit.day == 0]
        if self.anchor_is_day == 1 and zero:
            raise ValueError(f"day 0 does not exist when anchor_is_day is 1: {', '.join(zero)}")
        return self
