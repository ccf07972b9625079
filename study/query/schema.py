"""A StudyQuery as typed, frozen values; what is no query is refused with the place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias

from django.utils.translation import gettext as _
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    Tag,
    ValidationError,
)
from pydantic_core import PydanticCustomError

from core.rules.limits import RuleError, check_limits
from study.query.errors import QueryError, nearest

Op: TypeAlias = Literal[
    "=", "!=", ">", ">=", "<", "<=", "between", "in", "contains", "blank", "filled", "missing_code"
]
As: TypeAlias = Literal["diff", "percent", "days", "ratio"]
Aggregate: TypeAlias = Literal["count", "mean", "median", "min", "max", "sum", "share"]
Name = Annotated[StrictStr, Field(min_length=1)]


def _moment(text: str) -> str:
    try:
        datetime.fromisoformat(text)
    except ValueError as error:
        raise PydanticCustomError("moment", "no time") from error
    return text


Float = Annotated[StrictFloat, Field(allow_inf_nan=False)]
Number = StrictInt | Float


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=False)


class Newest(_Model):
    """The last `latest` rows."""

    latest: Annotated[StrictInt, Field(ge=1)]


class Oldest(_Model):
    """The first `first` rows."""

    first: Annotated[StrictInt, Field(ge=1)]


Choice: TypeAlias = Literal["all", "latest", "first", "highest", "lowest"]


def _rows_tag(value: object) -> str:
    if isinstance(value, Mapping):
        return "<first>" if "first" in value else "<latest>"
    return "<word>"


Rows: TypeAlias = Annotated[
    Annotated[Choice, Tag("<word>")]
    | Annotated[Newest, Tag("<latest>")]
    | Annotated[Oldest, Tag("<first>")],
    Discriminator(_rows_tag),
]


def _one_or_many(value: object) -> str:
    return "<many>" if isinstance(value, list | tuple) else "<one>"


Place: TypeAlias = Annotated[
    Annotated[Name, Tag("<one>")] | Annotated[tuple[Name, ...], Tag("<many>")],
    Discriminator(_one_or_many),
]


class FieldOperand(_Model):
    """A field or column, perhaps of another row, perhaps less another operand."""

    field: Name
    place: Place | None = None
    rows: Rows | None = None
    minus: Operand | None = None
    how: As | None = Field(default=None, alias="as")


class RefOperand(_Model):
    """A limit of the reference range of the field it is compared with, `times` over."""

    ref: Literal["high", "low"]
    times: Number = 1


def _operand_tag(value: object) -> str:
    if isinstance(value, Mapping):
        return "<ref>" if "ref" in value else "<operand>"
    return "<literal>"


_LITERALS: dict[type, str] = {bool: "<flag>", int: "<int>", float: "<float>"}
Scalar: TypeAlias = Annotated[
    Annotated[StrictBool, Tag("<flag>")]
    | Annotated[StrictInt, Tag("<int>")]
    | Annotated[Float, Tag("<float>")]
    | Annotated[StrictStr, Tag("<text>")],
    Discriminator(lambda value: _LITERALS.get(type(value), "<text>")),
]
Operand: TypeAlias = Annotated[
    Annotated[FieldOperand, Tag("<operand>")]
    | Annotated[RefOperand, Tag("<ref>")]
    | Annotated[Scalar, Tag("<literal>")],
    Discriminator(_operand_tag),
]
Named: TypeAlias = Annotated[
    Annotated[FieldOperand, Tag("<operand>")] | Annotated[Name, Tag("<literal>")],
    Discriminator(lambda value: "<literal>" if isinstance(value, str) else "<operand>"),
]
Values: TypeAlias = Annotated[
    Annotated[Operand, Tag("<one>")] | Annotated[tuple[Operand, ...], Tag("<many>")],
    Discriminator(_one_or_many),
]


class Test(_Model):
    """A field or operand, how it is compared, and with what."""

    field: Named
    op: Op
    value: Values | None = None
    holds: Literal["any", "every"] = "any"


class AnyOf(_Model):
    """At least one condition."""

    any: tuple[Condition, ...] = Field(min_length=1)


class AllOf(_Model):
    """Every condition."""

    all: tuple[Condition, ...] = Field(min_length=1)


class NoneOf(_Model):
    """No condition, each taken alone."""

    none: tuple[Condition, ...] = Field(min_length=1)


def _condition_tag(value: object) -> str:
    keys = value if isinstance(value, Mapping) else ()
    return next((f"<{key}>" for key in ("any", "all", "none") if key in keys), "<test>")


Condition: TypeAlias = Annotated[
    Annotated[Test, Tag("<test>")]
    | Annotated[AnyOf, Tag("<any>")]
    | Annotated[AllOf, Tag("<all>")]
    | Annotated[NoneOf, Tag("<none>")],
    Discriminator(_condition_tag),
]


class Period(_Model):
    """Inclusive; without `field` the row's date."""

    field: Name | None = None
    first: StrictStr | None = Field(default=None, alias="from")
    last: StrictStr | None = Field(default=None, alias="to")


class Order(_Model):
    """`by`: a selected column or "value"."""

    by: Name
    desc: StrictBool = False


class StudyQuery(_Model):
    """One question to a study's data (contracts.md, StudyQuery and facts)."""

    subjects: tuple[StrictStr, ...] | None = None
    where: tuple[Condition, ...] = ()
    select: tuple[Named, ...] = ()
    rows: Rows | None = None
    place: Place | None = None
    period: Period | None = None
    aggregate: Aggregate | None = None
    of: tuple[Condition, ...] = ()
    by: Annotated[tuple[Name, ...], Field(max_length=2)] = ()
    order: Order | None = None
    limit: Annotated[StrictInt, Field(ge=1, le=200)] | None = None
    as_of: Annotated[StrictStr, AfterValidator(_moment)] | None = None


for _model in (FieldOperand, Test, AnyOf, AllOf, NoneOf, StudyQuery):
    _model.model_rebuild()

_KEYS = {
    (field.alias or name): (field.alias or name)
    for model in (StudyQuery, Test, AnyOf, AllOf, NoneOf, FieldOperand, RefOperand, Period, Order)
    for name, field in model.model_fields.items()
}


def parse_query(data: object) -> StudyQuery:
    """The query that `data` (JSON values) is. Raises QueryError."""
    if not isinstance(data, Mapping):
        raise QueryError("", _("A query is a JSON object."))
    try:
        check_limits(dict(data))
    except RuleError:
        raise QueryError("", _("The query is too large or too deep.")) from None
    given = {key: value for key, value in data.items() if value is not None}
    try:
        return StudyQuery.model_validate(given)
    except ValidationError as error:
        raise _refused(error) from None


def written_path(steps: Iterable[str | int]) -> str:
    """`("where", 0, "field")` as `where[0].field`; what only the model knows is left out."""
    written = ""
    for step in steps:
        if isinstance(step, int):
            written += f"[{step}]"
        elif not step.startswith("<"):
            written += f".{step}" if written else step
    return written


def _refused(error: ValidationError) -> QueryError:
    first = error.errors(include_url=False)[0]
    at, kind = written_path(first["loc"]), first["type"]
    last = str(first["loc"][-1]) if first["loc"] else ""
    if kind == "extra_forbidden":
        near = nearest(last, _KEYS)
        return QueryError(at, _("There is no key “%(name)s” here.") % {"name": last}, near)
    if kind == "missing":
        return QueryError(at, _("“%(name)s” is missing.") % {"name": last})
    if kind == "literal_error":
        return _no_word(at, first)
    bounds = first.get("ctx", {})
    told = {
        "greater_than_equal": _("At least %(ge)s is needed here."),
        "less_than_equal": _("At most %(le)s is possible here."),
        "too_long": _("At most %(max_length)s are possible here."),
        "too_short": _("At least %(min_length)s is needed here."),
        "string_type": _("A text is needed here."),
        "string_too_short": _("A text is needed here."),
        "int_type": _("A whole number is needed here."),
        "bool_type": _("true or false is needed here."),
        "tuple_type": _("A list is needed here."),
        "finite_number": _("A number is needed here."),
        "moment": _("A date or a time is needed here, as 2026-11-23 or 2026-11-23T09:00."),
    }.get(kind, _("This does not fit here."))
    keys = ("ge", "le", "max_length", "min_length")
    return QueryError(at, told % {key: bounds.get(key) for key in keys})


def _no_word(at: str, first: Any) -> QueryError:
    expected = str(first["ctx"]["expected"]).replace("'", "").replace(" or ", ", ").split(", ")
    told = _("“%(name)s” is none of %(known)s.") % {
        "name": str(first["input"])[:40],
        "known": ", ".join(expected),
    }
    near = nearest(str(first["input"]), {word: word for word in expected})
    return QueryError(at, told, near)
