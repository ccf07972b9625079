"""The rule by contracts.md, not by an example: dates, datetimes, today, ages and windows."""

from __future__ import annotations

import pytest

from tests.rules.acceptance import Case, cases, verdict

TABLE = """
ae_start: {">=":["$ae_start","$first_dose"]}
  ae_start=2024-03; first_dose=2024-03-15  UNKNOWN partial_date
  ae_start=2024-02; first_dose=2024-03-15  FAIL
  ae_start=2024-04; first_dose=2024-03-15  PASS
  ae_start=2024-UN-UN; first_dose=2024-03-15  UNKNOWN partial_date
  ae_start=2023; first_dose=2024-03-15  FAIL
  ae_start=2025; first_dose=2024-03-15  PASS
  ae_start=2024-03-UN; first_dose=2024-03-15  UNKNOWN partial_date
  ae_start=2024-04-UN; first_dose=2024-03-15  PASS
  ae_start=2024-02-30; first_dose=2024-03-15  FAIL type_mismatch
  ae_start=2024-13; first_dose=2024-03-15  FAIL type_mismatch
  ae_start=soon; first_dose=2024-03-15  FAIL type_mismatch
  ae_start=2024-03-15; first_dose=2024-03-15  PASS
  ae_start=2024-02-29; first_dose=2024-03-15  FAIL
  ae_start=2023-02-29; first_dose=2024-03-15  FAIL type_mismatch
ae_start: {"==":["$ae_start","$first_dose"]}
  ae_start=2024-03; first_dose=2024-03-15  UNKNOWN partial_date
  ae_start=2024-02; first_dose=2024-03-15  FAIL
ae_start: {"!=":["$ae_start","$first_dose"]}
  ae_start=2024-02; first_dose=2024-03-15  PASS
ae_start: {">=":["$ae_start","2024-03-15"]}
  ae_start=2024-03  UNKNOWN partial_date
ae_start: {">=":["$ae_start","2024-03-01"]}
  ae_start=2024-03  PASS
ae_start: {">":["$ae_start","2024-03-01"]}
  ae_start=2024-03  UNKNOWN partial_date
ae_start: {"<=":["$ae_start","2024-03-31"]}
  ae_start=2024-03  PASS
ae_start: {">":["$ae_start","2024-03-31"]}
  ae_start=2024-03  FAIL
ae_start: {"<=":["2024-01-01","$ae_start","2024-12-31"]}
  ae_start=2024  PASS
dob: {">=":["$dob","2024-03-15"]}
  dob=2024-03  UNKNOWN partial_date
icf_dt: {"<=":["$icf_dt","$first_dose"]}
  icf_dt=2024-03-15 23:59; first_dose=2024-03-15  PASS
icf_dt: {"==":["$icf_dt","$first_dose"]}
  icf_dt=2024-03-15 23:59; first_dose=2024-03-15  PASS
icf_dt: {"<":["$icf_dt","$first_dose"]}
  icf_dt=2024-03-15 23:59; first_dose=2024-03-15  FAIL
icf_dt: {">=":["$icf_dt","$first_dose"]}
  icf_dt=2024-03-15 23:59; first_dose=2024-03-15  PASS
icf_dt: {"!=":["$icf_dt","$first_dose"]}
  icf_dt=2024-03-15 23:59; first_dose=2024-03-15  FAIL
icf_dt: {"before":["$icf_dt","$first_dose"]}
  icf_dt=2024-03-15 23:59; first_dose=2024-03-15  FAIL
icf_dt: {"after":["$icf_dt","$first_dose"]}
  icf_dt=2024-03-15 23:59; first_dose=2024-03-15  FAIL
icf_dt: {"<=":["$icf_dt","2024-03-15"]}
  icf_dt=2024-03-15 10:00  PASS
first_dose: {"<=":["$first_dose","2024-03-15 08:00"]}
  first_dose=2024-03-15  PASS
icf_dt: {"before":["$icf_dt","$dose_dt"]}
  icf_dt=2024-03-15 08:00; dose_dt=2024-03-15 09:00:00  PASS
icf_dt: {"==":["$icf_dt","$dose_dt"]}
  icf_dt=2024-03-15 08:00; dose_dt=2024-03-15 08:00:00  PASS
icf_dt: {"<":["$icf_dt","2025-01-01"]}
  icf_dt=2024-03-15 25:00  FAIL type_mismatch
dob: {"!!":["$dob"]}
  dob=2024-02-30  FAIL type_mismatch
dob: {"is_blank":["$dob"]}
  dob=2024-02-30  FAIL type_mismatch
dob: {"or":[{"==":["$sex","0"]},{"<":["$dob","2024-01-01"]}]}
  sex=0; dob=2024-02-30  FAIL type_mismatch
ae_start: {"before":["$ae_start","2024-03-15"]}
  ae_start=2024-02  PASS
  ae_start=2024-03  UNKNOWN partial_date
ae_start: {"before":["$ae_start","2024-03-01"]}
  ae_start=2024-03  FAIL
  ae_start=2024-03-01  FAIL
  ae_start=2024-02-29  PASS
  ae_start=  UNKNOWN missing
  ae_start=x  FAIL type_mismatch
ae_start: {"after":["$ae_start","2024-03-01"]}
  ae_start=2024-03  UNKNOWN partial_date
  ae_start=2024-03-01  FAIL
ae_start: {"after":["$ae_start","2024-02-29"]}
  ae_start=2024-03  PASS
ae_start: {"after":["$ae_start","2024-03-31"]}
  ae_start=2024-03  FAIL
dob: {"before":["$dob","$icf"]}
  dob=2000-01-01  UNKNOWN not_exported
first_dose: {"<=":["$first_dose",{"today":[]}]}
  first_dose=2024-03-02; @today=2024-03-01T17:30:00Z  PASS
  first_dose=2024-03-03; @today=2024-03-01T17:30:00+00:00  FAIL
  first_dose=2024-03-02; @today=2024-03-01T15:59:59Z  FAIL
  first_dose=2024-06-02  FAIL
first_dose: {"==":["$first_dose",{"today":[]}]}
  first_dose=2024-03-02; @today=2024-03-02  PASS
  first_dose=2024-03-01; @today=2024-03-02T03:00:00Z; @zone=America/New_York  PASS
  first_dose=2024-03-01; @today=2024-03-02T04:59:00+08:00; @zone=UTC  PASS
  first_dose=2024-03-02; @today=2024-03-02T01:00:00  PASS
icf_dt: {"<=":["$icf_dt",{"today":[]}]}
  icf_dt=2024-06-01 23:00  PASS
dob: {"==":[{"age_at":["$dob","2022-02-28"]},17]}
  dob=2004-02-29  PASS
dob: {"==":[{"age_at":["$dob","2022-03-01"]},18]}
  dob=2004-02-29  PASS
dob: {"==":[{"age_at":["$dob","2024-02-29"]},20]}
  dob=2004-02-29  PASS
dob: {"==":[{"age_at":["$dob","2024-06-01"]},23]}
  dob=2000-06-02  PASS
dob: {"==":[{"age_at":["$dob","2024-06-01"]},24]}
  dob=2000-06-01  PASS
dob: {"==":[{"age_at":["$dob","$icf_dt"]},18]}
  dob=2006-03-15; icf_dt=2024-03-15 00:01  PASS
ae_start: {">=":[{"age_at":["$ae_start","2024-06-01"]},18]}
  ae_start=1990-05  PASS
  ae_start=2006  UNKNOWN partial_date
ae_start: {">=":[{"age_at":["$ae_start","2024-05-15"]},34]}
  ae_start=1990-05  UNKNOWN partial_date
dob: {">=":[{"age_at":["$dob",{"today":[]}]},18]}
  dob=  UNKNOWN missing
  dob=2006-02-30  FAIL type_mismatch
dob: {"==":[{"days_between":["$first_dose","$dob"]},30]}
  first_dose=2024-03-01; dob=2024-03-31  PASS
dob: {"==":[{"days_between":["$dob","$first_dose"]},-30]}
  first_dose=2024-03-01; dob=2024-03-31  PASS
icf_dt: {"==":[{"days_between":["$icf_dt","$dose_dt"]},1]}
  icf_dt=2024-03-01 23:59; dose_dt=2024-03-02 00:01:00  PASS
  icf_dt=2024-03-01 00:00; dose_dt=2024-03-02 23:59:59  PASS
icf_dt: {"==":[{"days_between":["$icf_dt","$first_dose"]},0]}
  icf_dt=2024-03-01 23:00; first_dose=2024-03-01  PASS
ae_start: {">":[{"days_between":["$ae_start","2024-05-01"]},10]}
  ae_start=2024-03  PASS
ae_start: {">":[{"days_between":["$ae_start","2024-05-01"]},40]}
  ae_start=2024-03  UNKNOWN partial_date
dob: {"in_window":["$dob","$first_dose",28,7,7]}
  first_dose=2024-03-01; dob=2024-04-04; @anchor=1  PASS
  first_dose=2024-03-01; dob=2024-04-05; @anchor=1  FAIL
  first_dose=2024-03-01; dob=2024-04-05; @anchor=0  PASS
  first_dose=2024-03-01; dob=2024-03-21; @anchor=1  PASS
  first_dose=2024-03-01; dob=2024-03-20; @anchor=1  FAIL
  first_dose=2024-03-01; dob=2024-03-21; @anchor=0  FAIL
  first_dose=2024-03-01; dob=2024-04-05  FAIL
  first_dose=; dob=2024-04-05  UNKNOWN missing
  first_dose=2024-03-01; dob=  UNKNOWN missing
dob: {"in_window":["$dob","$first_dose",1,0,0]}
  first_dose=2024-03-01; dob=2024-03-01; @anchor=1  PASS
dob: {"in_window":["$dob","$first_dose",0,0,0]}
  first_dose=2024-03-01; dob=2024-03-01; @anchor=0  PASS
dob: {"in_window":["$dob","$first_dose",-7,0,0]}
  first_dose=2024-03-01; dob=2024-02-23; @anchor=1  PASS
  first_dose=2024-03-01; dob=2024-02-23; @anchor=0  PASS
dob: {"in_window":["$dob","$first_dose",-1,0,0]}
  first_dose=2024-03-01; dob=2024-02-29; @anchor=1  PASS
dob: {"in_window":["$dob","$first_dose",-7,1,0]}
  first_dose=2024-03-01; dob=2024-02-22; @anchor=1  PASS
  first_dose=2024-03-01; dob=2024-02-24; @anchor=1  FAIL
dob: {"in_window":["$dob","$first_dose",1,3,3]}
  first_dose=2024-03-01; dob=2024-02-27; @anchor=1  PASS
  first_dose=2024-03-01; dob=2024-02-26; @anchor=1  FAIL
ae_start: {"in_window":["$ae_start","$first_dose",28,7,7]}
  first_dose=2024-03-01; ae_start=2024-04  UNKNOWN partial_date
  first_dose=2024-03-01; ae_start=2024-05  FAIL
ae_start: {"in_window":["$ae_start","$first_dose",16,20,20]}
  first_dose=2024-03-01; ae_start=2024-03  PASS
icf_dt: {"in_window":["$icf_dt","$first_dose",28,7,7]}
  first_dose=2024-03-01; icf_dt=2024-04-04 23:59  PASS
wake: {"<":["$wake","08:00"]}
  wake=07:30  PASS
  wake=8:30  FAIL
  wake=24:00  FAIL type_mismatch
dob: {"<":[{"age_at":["$dob","2000-01-01"]},0]}
  dob=2006-02-03  PASS
dob: {"in_window":["$dob","$first_dose",{"+":[27,1]},7,7]}
  first_dose=2024-03-01; dob=2024-04-04  PASS
first_dose: {"in_window":[{"today":[]},"$first_dose",28,7,7]}
  first_dose=2024-05-01  PASS
dob: {"in_window":["$dob","$first_dose",28,"7",7]}
  first_dose=2024-03-01; dob=2024-04-04  PASS
icf: {"<=":["$icf","$first_dose"]}
  icf=2024-01-12; first_dose=2024-01-12  PASS
  icf=; first_dose=2024-01-12  UNKNOWN missing
  icf=12-01-2024; first_dose=2024-01-12  FAIL type_mismatch
dob: {"in_window":["$dob","$ae_start",28,7,7]}
  ae_start=2024-03; dob=2024-04-15  UNKNOWN partial_date
  ae_start=2024-03; dob=2024-08-15  FAIL
"""


@pytest.mark.parametrize("case", cases(TABLE), ids=str)
def test_dates(case: Case) -> None:
    assert verdict(case) == case.expected
