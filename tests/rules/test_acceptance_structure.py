"""The rule by contracts.md, not by an example: lists, branching, Kleene logic, units."""

from __future__ import annotations

import pytest

from tests.rules.acceptance import Case, cases, verdict

TABLE = r"""
age: {"!":[{"missing_some":[1,["age","alt"]]}]}
  age=1; alt=  PASS
  age=; alt=  FAIL
  age=  UNKNOWN not_exported
  age=5  PASS
code: {"matches":["$code","[A-Z]{2}\\d{3}"]}
  code=AB123  PASS
  code=AB1234  FAIL
  code=xAB123  FAIL
code: {"matches":["$code","a|ab"]}
  code=ab  PASS
code: {"matches":["$code","a+"]}
  code=  UNKNOWN missing
code: {"matches":["$code","[\\u4e00-\\u9fff]+"]}
  code=张三  PASS
code: {"matches":["$code","(a+)+"]}
  code=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab  FAIL
code: {"matches":["$code","\\d{3}"]}
  code=007  PASS
code: {"matches":["$code","^AB\\d+$"]}
  code=AB123  PASS
code: {"matches":["$code","(?:a|b)-b"]}
  code=a-b  PASS
code: {"matches":["$code",".*"]}
  code=NA  UNKNOWN missing_code
record_id: {"matches":["$record_id","0\\d+"]}
  record_id=007  PASS
age: {"matches":["$age","\\d+"]}
  age=45  PASS
ecog: {"matches":["$ecog","[0-2]"]}
  ecog=1  PASS
gluc: {"<=":[{"to_unit":["$gluc","$gunit","mmol/L","glucose"]},10]}
  gluc=180.16; gunit=1  PASS
  gluc=180.17; gunit=1  FAIL
  gluc=10; gunit=2  PASS
  gluc=10.1; gunit=2  FAIL
  gluc=10; gunit=  UNKNOWN unit_missing
  gluc=; gunit=1  UNKNOWN missing
  gluc=<180; gunit=1  PASS
  gluc=<181; gunit=1  UNKNOWN censored
gluc: {"==":[{"to_unit":["$gluc","$gunit","mmol/L","glucose"]},10]}
  gluc=180.16; gunit=1  PASS
  gluc=180.16  UNKNOWN not_exported
gluc: {"==":[{"to_unit":["$gluc","$gunit","mg/dL","glucose"]},90.08]}
  gluc=5; gunit=2  PASS
gluc: {"==":[{"to_unit":["$gluc","mmol/L","mg/dL","glucose"]},90.08]}
  gluc=5  PASS
gluc: {"==":[{"to_unit":["$gluc","$gunit_t","mmol/L","glucose"]},10]}
  gluc=180.16; gunit_t=mg/dL  PASS
  gluc=180.16; gunit_t=mg/dl  PASS
  gluc=180.16; gunit_t:=" mg/dL "  PASS
  gluc=180.16; gunit_t=  UNKNOWN unit_missing
crea: {"<":[{"to_unit":["$crea","mg/dL","umol/L","creatinine"]},88.5]}
  crea=1  PASS
crea: {"<":[{"to_unit":["$crea","mg/dL","μmol/L","creatinine"]},88.3]}
  crea=1  FAIL
age: {"or":[{"<":["$alt",120]},{">":["$age",1]}]}
  alt=; age=5  PASS
age: {"or":[{">":["$age",1]},{"<":["$alt",120]}]}
  alt=; age=5  PASS
age: {"and":[{"<":["$alt",120]},{"<":["$age",1]}]}
  alt=; age=5  FAIL
age: {"and":[{"<":["$age",1]},{"<":["$alt",120]}]}
  alt=; age=5  FAIL
age: {"and":[{"<":["$alt",120]},{">":["$age",1]}]}
  alt=; age=5  UNKNOWN missing
age: {"or":[{"<":["$alt",120]},{"<":["$age",1]}]}
  alt=; age=5  UNKNOWN missing
age: {"!":[{"<":["$alt",120]}]}
  alt=; age=5  UNKNOWN missing
age: {"if":[{"<":["$alt",120]},true,true]}
  alt=; age=5  PASS
age: {"if":[{"<":["$alt",120]},true,false]}
  alt=; age=5  UNKNOWN missing
age: {"if":[{"<":["$alt",120]},{">":["$age",1]},{">":["$age",1]}]}
  alt=; age=5  PASS
age: {"if":[{"<":["$age",1]},{"<":["$alt",120]},{">":["$age",1]}]}
  alt=; age=5  PASS
age: {"if":[{">":["$age",1]},{"<":["$alt",120]},true]}
  alt=; age=5  UNKNOWN missing
age: {"?:":[{"<":["$alt",120]},true,false]}
  alt=; age=5  UNKNOWN missing
age: {"!!":[{"<":["$alt",120]}]}
  alt=; age=5  UNKNOWN missing
age: {"if":[{"<":["$age",1]},false,{"<":["$alt",120]},true,true]}
  alt=; age=5  PASS
age: {"==":[{"<":["$alt",120]},true]}
  alt=; age=5  UNKNOWN missing
age: {"or":[{"is_blank":["$alt"]},{"<":["$alt",120]}]}
  alt=; age=5  PASS
age: {"and":[{"!!":["$alt"]},{"<":["$alt",120]}]}
  alt=; age=5  FAIL
exclusion: {"!":["$exclusion___3"]}
  EX; exclusion___3=1  FAIL
  EX  PASS
  EX; base_complete=  UNKNOWN missing
  EX; exclusion___3=1; base_complete=  FAIL
  EX; base_complete=0  PASS
  EX; base_complete=2  PASS
  -  UNKNOWN not_exported
exclusion: {"!!":["$exclusion___3"]}
  EX; exclusion___3=1  PASS
  EX; base_complete=  UNKNOWN missing
exclusion: {"==":["$exclusion___3","1"]}
  EX; exclusion___3=1  PASS
exclusion: {"==":["$exclusion___3",0]}
  EX  PASS
exclusion: {"!=":["$exclusion___3","1"]}
  EX  PASS
exclusion: {"in":["3","$exclusion"]}
  EX; exclusion___3=1  PASS
  EX  FAIL
  EX; base_complete=  UNKNOWN missing
  exclusion___1=1  UNKNOWN not_exported
  exclusion___3=1; exclusion___1=0; @bare  PASS
exclusion: {"in":[3,"$exclusion"]}
  EX; exclusion___3=1  PASS
exclusion: {"!":["$exclusion"]}
  EX  PASS
  EX; exclusion___3=1  FAIL
  EX; base_complete=  UNKNOWN missing
  -  UNKNOWN not_exported
  EX; exclusion___unk=1  UNKNOWN missing_code
exclusion: {"!!":["$exclusion"]}
  EX; exclusion___3=1  PASS
  EX; exclusion___3=1; base_complete=  PASS
exclusion: {"is_blank":["$exclusion"]}
  EX  PASS
  EX; exclusion___3=1  FAIL
exclusion: {"none":["$exclusion",{"in":["$",["1","3"]]}]}
  EX; exclusion___3=1  FAIL
exclusion: {"some":["$exclusion",{"==":["$","3"]}]}
  EX; exclusion___3=1  PASS
exclusion: {"none":["$exclusion",{"==":["$",3]}]}
  EX  PASS
exclusion: {"all":["$exclusion",{"==":["$","3"]}]}
  EX; exclusion___3=1  PASS
exclusion: {"==":["$exclusion",null]}
  EX  PASS
exclusion: {"==":["$exclusion",[]]}
  EX  PASS
exclusion: {"==":["$exclusion___3","0"]}
  EX; base_complete=  UNKNOWN missing
exclusion: {"and":[{"!":["$exclusion___1"]},{"!":["$exclusion___3"]}]}
  EX; exclusion___3=1  FAIL
exclusion: {"missing":["exclusion"]}
  EX  PASS
exclusion: {"missing":["exclusion___3"]}
  EX; exclusion___3=1  FAIL
med: {"!!":["$med____1"]}
  MED  PASS
med: {"!!":["$med___1"]}
  MED  FAIL
med: {"in":["-1","$med"]}
  MED  PASS
med: {"in":[-1,"$med"]}
  MED  PASS
med: {"in":["1","$med"]}
  MED  FAIL
med: {"in":["k>=9","$med"]}
  MED; med___k__9=1  PASS
med: {"in":["AB","$med"]}
  MED; med___ab=1  PASS
med: {"!!":["$med___k__9"]}
  MED; med___k__9=1  PASS
preg_test: {"!!":["$preg_test"]}
  sex=1; preg_test=  NOT_APPLICABLE
  sex=1; preg_test=0  FAIL hidden_with_value
  sex=; preg_test=  UNKNOWN applicability_unknown
  sex=0; preg_test=  FAIL
  sex=0; preg_test=0  PASS
  preg_test=  UNKNOWN applicability_unknown
b_chk: {">=":["$b_chk",0]}
  EX; exclusion___3=1; b_chk=1  PASS
  EX; b_chk=  NOT_APPLICABLE
  EX; b_chk=1  FAIL hidden_with_value
  b_chk=1  UNKNOWN applicability_unknown
  EX; b_chk=; base_complete=  UNKNOWN applicability_unknown
b_nest: {">=":["$b_nest",0]}
  sex=0; age=20; ecog=1; b_nest=1  PASS
  sex=1; age=; ecog=1; b_nest=  NOT_APPLICABLE
  sex=; age=; ecog=0; b_nest=1  PASS
  sex=0; age=; ecog=1; b_nest=1  UNKNOWN applicability_unknown
  sex=0; age=17; ecog=1; b_nest=1  FAIL hidden_with_value
b_blank: {">=":["$b_blank",0]}
  sex=; b_blank=  NOT_APPLICABLE
  sex=1; b_blank=  UNKNOWN missing
b_dd: {">=":["$b_dd",0]}
  dob=2000-01-01; b_dd=1  PASS
  dob=2010-01-01; b_dd=  NOT_APPLICABLE
  dob=; b_dd=  UNKNOWN applicability_unknown
b_odd: {">=":["$b_odd",0]}
  sex=1; b_odd=1  UNKNOWN applicability_unknown
b_chkf: {"!!":["$b_chkf"]}
  sex=1; b_chkf___1=0; b_chkf___2=0  NOT_APPLICABLE
  sex=1; b_chkf___1=1; b_chkf___2=0  FAIL hidden_with_value
b_chkf___1: {"!!":["$b_chkf___1"]}
  sex=1; b_chkf___1=1; b_chkf___2=0  FAIL hidden_with_value
age: {"==":["$preg_test","0"]}
  sex=1; preg_test=; age=3  UNKNOWN missing
base_complete: {"==":["$base_complete","2"]}
  base_complete=2  PASS
  base_complete=5  FAIL invalid_choice
  -  UNKNOWN not_exported
base_complete: {"==":["$base_complete",2]}
  base_complete=0  FAIL
  base_complete:="2 "  PASS
base_complete: {"in":["$base_complete",[1,2]]}
  base_complete=  UNKNOWN missing
alt: {"<":["$alt",120]}
  alt=90; @bare  PASS
  alt=; @bare  UNKNOWN missing
  @bare  UNKNOWN not_exported
  alt=NA; @bare  UNKNOWN missing_code
  alt=ND; @bare  FAIL type_mismatch
  alt=<0.5; @bare  PASS
d: {">=":["$d","2024-03-15"]}
  d=2024-03; @bare  UNKNOWN partial_date
  d=2024-02; @bare  FAIL
s: {"==":["$s","1"]}
  s=1; @bare  PASS
s: {"in":["$s",[0,1,2]]}
  s=1; @bare  PASS
s: {"in":["$s",["a","b"]]}
  s=a; @bare  PASS
a: {"<=":["$a","$b"]}
  a=9; b=18; @bare  PASS
  a=2024-01-09; b=2024-01-18; @bare  PASS
  a=9; b=2024-06-01; @bare  FAIL type_mismatch
ae: {">=":["$ae","$fd"]}
  ae=2024-03; fd=2024-03-15; @bare  UNKNOWN partial_date
tbil: {">=":["$tbil",{"*":[3,"$uln"]}]}
  tbil=3.3; uln=1.1; @bare  PASS
d: {"<=":["$d",{"today":[]}]}
  d=2024-06-01; @bare  PASS
e___3: {"!":["$e___3"]}
  e___3=1; @bare  FAIL
  e___3=0; @bare  PASS
e___3: {"==":["$e___3","1"]}
  e___3=1; @bare  PASS
x: {"is_blank":["$x"]}
  x=; @bare  PASS
x: {"matches":["$x","\\d+"]}
  x=12; @bare  PASS
a: {"<":[{"days_between":["$a","$b"]},10]}
  a=2024-01-01; b=2024-01-05; @bare  PASS
s: {"==":["$s",1]}
  s=01; @bare  PASS
age: {"and":[{">=":["$age",18]},{"<=":["$age","$lim"]}]}
  age=9; lim=75; @bare  FAIL
sex: {"or":[{"==":["$sex","1"]},{"==":["$preg_test","0"]}]}
  sex=1; preg_test=  PASS
preg_test: {"==":["$preg_test","0"]}
  sex=1; preg_test=NA  FAIL hidden_with_value
b_chk: {"<":["$b_chk",3]}
  EX; b_chk=ND  FAIL hidden_with_value
  b_chk=ND  FAIL type_mismatch
alt: {"<":[1,"$alt",5]}
  alt=  UNKNOWN missing
gluc: {"==":[{"round_half_up":[{"to_unit":["$gluc","mmol/L","mg/dL","glucose"]},2]},90.08]}
  gluc=5.0  PASS
gluc: {"==":[{"to_unit":["$gluc","$gunit_t","mmol/L","glucose"]},5]}
  gluc=5; gunit_t=mmol/l  PASS
gluc: {"or":[{"is_blank":["$gunit_t"]},true]}
  gluc=5; gunit_t=  PASS
exclusion: {"some":["$exclusion",{"in":["$",["1","2"]]}]}
  EX; base_complete=  UNKNOWN missing
a: {"and":[{"<=":["$a","$b"]},{">=":["$a","2024-01-01"]}]}
  a=2024-05; b=2024-06-01; @bare  PASS
a: {"==":["$a","2024-03-15"]}
  a=2024-03; @bare  UNKNOWN partial_date
age: {"<=":[18,"$age",75]}
  age=; @bare  UNKNOWN missing
  age:=" 20 "; @bare  PASS
"""


@pytest.mark.parametrize("case", cases(TABLE), ids=str)
def test_structure(case: Case) -> None:
    assert verdict(case) == case.expected
