"""The rule by contracts.md, in further spellings of the same things: what sites really write down."""

from __future__ import annotations

import pytest

from tests.rules.acceptance import Case, cases, verdict

TABLE = r"""
ae_start: {">=":["$ae_start","$first_dose"]}
  ae_start=2024年; first_dose=2024-03-15  UNKNOWN partial_date
  ae_start=2024年3月; first_dose=2024-03-15  UNKNOWN partial_date
  ae_start=2024年3月16日; first_dose=2024-03-15  PASS
  ae_start=2024/03; first_dose=2024-03-15  UNKNOWN partial_date
  ae_start=2024/4; first_dose=2024-03-15  PASS
  ae_start=2024-03-; first_dose=2024-03-15  UNKNOWN partial_date
  ae_start=2024-03-00; first_dose=2024-03-15  FAIL type_mismatch
  ae_start=2024-00-00; first_dose=2024-03-15  FAIL type_mismatch
  ae_start=2024-UNK-UNK; first_dose=2024-03-15  UNKNOWN partial_date
  ae_start=2024-UNK; first_dose=2024-03-15  UNKNOWN partial_date
  ae_start=2024-??-??; first_dose=2024-03-15  UNKNOWN partial_date
  ae_start=2024-03-??; first_dose=2024-03-15  UNKNOWN partial_date
  ae_start=2024---; first_dose=2024-03-15  FAIL type_mismatch
  ae_start=UN-UN-UN; first_dose=2024-03-15  UNKNOWN partial_date
  ae_start=UNK; first_dose=2024-03-15  UNKNOWN missing_code
  ae_start=2024-xx-xx; first_dose=2024-03-15  UNKNOWN partial_date
  ae_start=2024-un-un; first_dose=2023-12-31  PASS
  ae_start=2024-UN-UN; first_dose=2024-01-01  PASS
  ae_start=2024-UN-UN; first_dose=2025-01-01  FAIL
  ae_start=2024-03-15 UN:UN; first_dose=2024-03-15  PASS
  ae_start=2024-UN-15; first_dose=2024-03-15  UNKNOWN partial_date
  ae_start=0000; first_dose=2024-03-15  FAIL type_mismatch
  ae_start=99; first_dose=2024-03-15  FAIL type_mismatch
  ae_start=03/2024; first_dose=2024-03-15  FAIL type_mismatch
  ae_start=2024-03-15T10:00; first_dose=2024-03-15  PASS
alt: {"<":["$alt",120]}
  alt=<=120  UNKNOWN censored
  alt=<120  PASS
  alt=≥ 120  FAIL
  alt=>=119.99  UNKNOWN censored
  alt=<0,5  FAIL type_mismatch
  alt=<.5  PASS
  alt=< 1e2  PASS
  alt=120.00000000000000000000000000000001  FAIL
  alt=119.99999999999999999999999999999999999  PASS
  alt=﹤0.5  FAIL type_mismatch
  alt=+5  PASS
  alt=5.  FAIL type_mismatch
  alt=.5  PASS
  alt=1,000  FAIL type_mismatch
  alt=5 U/L  FAIL type_mismatch
  alt=5%  FAIL type_mismatch
  alt=--5  FAIL type_mismatch
  alt:=5.5  PASS
  alt:=true  PASS
  alt:=[5]  FAIL type_mismatch
  alt:={"a":1}  FAIL type_mismatch
  alt=1e400  FAIL
  alt=1e-400  PASS
  alt=1e5000  FAIL type_mismatch
alt: {"==":["$alt",123456789012345678901234567890123]}
  alt=123456789012345678901234567890123  PASS
  alt=123456789012345678901234567890124  FAIL
alt: {"==":["$alt",0.3]}
  alt=0.30000000000000004  FAIL
  alt=0.3000  PASS
alt: {"==":[{"round_half_up":["$alt",1]},0.3]}
  alt=0.25  PASS
  alt=0.24999  FAIL
  alt=<0.5  UNKNOWN censored
alt: {"==":[{"round_half_up":["$alt",-1]},130]}
  alt=125  PASS
alt: {"==":[{"round_half_up":[{"/":["$alt",3]},2]},0.67]}
  alt=2  PASS
bmi: {"==":["$bmi",{"round_half_up":[{"/":[{"*":["$weight",10000]},{"*":["$height","$height"]}]},1]}]}
  bmi=31.3; weight=80; height=160  PASS
  bmi=28.0; weight=80; height=160  FAIL
  bmi=31.2; weight=80; height=160  FAIL
  bmi=31.3; weight=; height=160  UNKNOWN missing
  bmi=31.3; weight=80; height=0  ERROR
  bmi=; weight=80; height=160  UNKNOWN missing
  bmi=31.3; weight=NA; height=160  UNKNOWN missing_code
alt: {"<=":[{"*":[3,"$ast"]},"$tbil"]}
  alt=1; ast=1.1; tbil=3.3  PASS
  alt=1; ast=<1.1; tbil=3.3  PASS
alt: {">":["$alt","$ast"]}
  alt=>5; ast=<5  PASS
  alt=>=5; ast=<=5  UNKNOWN censored
  alt=>=5; ast=<5  PASS
  alt=<5; ast=>5  FAIL
  alt=<=5; ast=>=5  FAIL
alt: {"==":["$alt","$ast"]}
  alt=<5; ast=>5  FAIL
  alt=<5; ast=<5  UNKNOWN censored
  alt=<=5; ast=>=5  UNKNOWN censored
alt: {"in":["$alt",[1,2,3]]}
  alt=<1  FAIL
  alt=<1.5  UNKNOWN censored
sex: {"and":[{"!=":["$sex",1]},{"<":["$alt",5]}]}
  sex=NA; alt=9  FAIL
  sex=NA; alt=1  UNKNOWN missing_code
alt: {"==":["$alt","NA"]}
  alt=NA  PASS
  alt=5  FAIL
  alt=  UNKNOWN missing
alt: {"in":["$alt",["NA","UNK"]]}
  alt=UNK  PASS
  alt=3  FAIL
dob: {"==":[{"age_at":["$dob",{"today":[]}]},18]}
  dob=2004-02-29; @today=2022-02-28  FAIL
  dob=2004-02-29; @today=2022-03-01  PASS
  dob=2004-02; @today=2022-02-28  UNKNOWN partial_date
  dob=2004-01; @today=2022-02-28  PASS
dob: {">=":[{"age_at":["$dob","$icf"]},18]}
  dob=2024-01-01; icf=2023-01-01  FAIL
  dob=2004-02-29; icf=2022-03-01  PASS
  dob=2004-02-29; icf=2022-02-28  FAIL
dob: {"days_between":["$dob","$icf"]}
  dob=2024-01-01; icf=2024-01-02  PASS
  dob=2024-01-01; icf=2024-01-01  FAIL
ae_start: {"<=":[{"days_between":["$icf","$ae_start"]},30]}
  icf=2024-01-01; ae_start=2024-01  PASS
  icf=2024-01-01; ae_start=2024-02  FAIL
  icf=2024-01-01; ae_start=2024-03  FAIL
  icf=2024-02-28; ae_start=2024-03-29  PASS
icf_dt: {"<=":["$icf_dt","$dose_dt"]}
  icf_dt=2024-03-01 10:00; dose_dt=2024-03-01 10:00:30  PASS
  icf_dt=2024-03-01 10:01; dose_dt=2024-03-01 10:00:59  FAIL
  icf_dt=2024-03-01; dose_dt=2024-03-01 10:00:59  UNKNOWN partial_date
  icf_dt=2024-02-29; dose_dt=2024-03-01 10:00:59  PASS
dob: {"in_window":["$ae_start","$first_dose",28,7,7]}
  dob=x; ae_start=2024-04-UN; first_dose=2024-03-01  UNKNOWN partial_date
  dob=2024-01-01; ae_start=2024-UN-UN; first_dose=2024-03-01  UNKNOWN partial_date
  dob=2024-01-01; ae_start=2023; first_dose=2024-03-01  FAIL
  dob=2024-01-01; ae_start=2024-03-28; first_dose=NA  UNKNOWN missing_code
  dob=2024-01-01; ae_start=2024-03-28  UNKNOWN not_exported
  dob=2024-01-01; ae_start=2024-03-28; first_dose=2024-02-30  FAIL type_mismatch
dob: {"in_window":["$dob","$first_dose",-1,1,0]}
  dob=2024-02-28; first_dose=2024-03-01  PASS
  dob=2024-03-01; first_dose=2024-03-01  FAIL
  dob=2024-02-28; first_dose=2024-03-01; @anchor=0  PASS
dob: {"in_window":["$dob","$first_dose",0,1,1]}
  dob=2024-03-02; first_dose=2024-03-01; @anchor=0  PASS
gluc: {">":[{"to_unit":["$gluc","$gunit","mmol/L","glucose"]},7]}
  gluc=126.112; gunit=1  FAIL
  gluc=126.2; gunit=1  PASS
  gluc=>126.112; gunit=1  PASS
  gluc=7.1; gunit=9  UNKNOWN unit_missing
  gluc=7.1; gunit=NA  UNKNOWN missing_code
  gluc=7.1; gunit=5  FAIL invalid_choice
  gluc=NA; gunit=  UNKNOWN missing_code
gluc: {"==":[{"to_unit":["$gluc","$gunit_t","mmol/L","glucose"]},1]}
  gluc=18.016; gunit_t=mg/dL  PASS
  gluc=18.016; gunit_t=MG/DL  PASS
  gluc=18.016; gunit_t=mg / dl  PASS
  gluc=1; gunit_t=mmol/L  PASS
  gluc=1000; gunit_t=umol/L  PASS
  gluc=1000; gunit_t=μmol/L  PASS
  gluc=1000; gunit_t=µmol/L  PASS
  gluc=180.16; gunit_t=mg/L  PASS
  gluc=0.18016; gunit_t=g/L  PASS
  gluc=1; gunit_t=furlong  UNKNOWN unit_missing
consent: {"in":["$consent",[1]]}
  consent=1  PASS
consent: {"==":["$consent","NA"]}
  consent=NA  PASS
age: {"!":["$sex"]}
  sex=0  FAIL
age: {"!!":["$exclusion"]}
  EX  FAIL
exclusion: {"==":["$exclusion___3",1]}
  EX; exclusion___3=2  FAIL invalid_choice
  EX; exclusion___3=  UNKNOWN missing
  EX; exclusion___3=NA  UNKNOWN missing_code
exclusion: {"none":["$exclusion",{"in":["$",[3,4]]}]}
  EX; exclusion___4=1  FAIL
  EX  PASS
  EX; base_complete=  UNKNOWN missing
  exclusion___1=0; exclusion___2=0; exclusion___4=0  UNKNOWN not_exported
exclusion: {"!":[{"in":["3","$exclusion"]}]}
  EX; exclusion___na=1  UNKNOWN missing_code
code: {"matches":["$code","(x+x+)+y"]}
  code=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx  FAIL
code: {"matches":["$code","(a|a)*b"]}
  code=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa  FAIL
code: {"matches":["$code","[A-Z]{2}-\\d{3}"]}
  code=AB-123  PASS
  code:="AB-123\n"  FAIL
  code=ab-123  FAIL
  code=AB-１２３  FAIL
code: {"==":["$code",7]}
  code=007  PASS
code: {"==":["$code","7"]}
  code=007  FAIL
age: {"<=":[18,"$age",75]}
  age=17  FAIL
  age=75  PASS
  age=75.0  PASS
  age=１８  FAIL type_mismatch
  age=018  PASS
  age=+20  PASS
  age=2e1  PASS
  age=20.5  FAIL type_mismatch
  age=>18  UNKNOWN censored
  age=<18  FAIL
  age=≥18  UNKNOWN censored
vas: {"!":[{"missing":["vas"]}]}
  vas=0  PASS
  vas:=0  PASS
  vas=  FAIL
hba: {"<":["$hba",7]}
  hba=7,0  FAIL
  hba=6,99  PASS
  hba=1.000,5  FAIL type_mismatch
  hba=<6,5  PASS
  hba=NA  UNKNOWN missing_code
wake: {"<=":["$wake","08:00"]}
  wake=08:00  PASS
  wake=8:00  PASS
  wake=07:60  FAIL type_mismatch
  wake=NA  UNKNOWN missing_code
notes: {"in":["癌","$notes"]}
  notes=无  FAIL
  notes=NA  UNKNOWN missing_code
alt: {"<":[{"+":["$alt","$ast"]},10]}
  alt=<5; ast=<5  PASS
  alt=<5; ast=5  PASS
  alt=<6; ast=5  UNKNOWN censored
  alt=>5; ast=5  FAIL
alt: {"<":[{"-":["$alt","$ast"]},0]}
  alt=<5; ast=>5  PASS
alt: {">":[{"/":["$alt","$ast"]},1]}
  alt=5; ast=0  ERROR
  alt=0; ast=0  ERROR
  alt=>5; ast=5  PASS
  alt=5; ast=<5  UNKNOWN censored
  alt=5; ast=  UNKNOWN missing
alt: {"or":[{"==":[{"/":["$alt","$ast"]},1]},true]}
  alt=5; ast=0  PASS
alt: {"<":[{"max":["$alt","$ast"]},10]}
  alt=<5; ast=3  PASS
  alt=>11; ast=3  FAIL
  alt=; ast=11  UNKNOWN missing
alt: {"all":[["$alt","$ast"],{"<":["$",10]}]}
  alt=; ast=11  FAIL
  alt=; ast=1  UNKNOWN missing
  alt=5; ast=1  PASS
alt: {"some":[["$alt","$ast"],{"is_blank":["$"]}]}
  alt=; ast=11  PASS
  alt=1; ast=11  FAIL
ex: {"none":["$ex",{"==":["$",3]}]}
  ex=3; @bare  FAIL type_mismatch
  ex=; @bare  UNKNOWN missing
  ex:=["3"]; @bare  FAIL
  ex:=[]; @bare  PASS
  ex___3=0; ex___1=1; @bare  PASS
ex: {"!":[{"some":["$ex",{"==":["$",3]}]}]}
  ex=3; @bare  FAIL type_mismatch
ex: {"==":[{"reduce":["$ex",{"+":[{"var":"current"},{"var":"accumulator"}]},0]},0]}
  ex=3; @bare  FAIL type_mismatch
"""


@pytest.mark.parametrize("case", cases(TABLE), ids=str)
def test_a_variation(case: Case) -> None:
    assert verdict(case) == case.expected
