"""The rule by contracts.md, not by an example: numbers, codes, blanks and missing values."""

from __future__ import annotations

import pytest

from tests.rules.acceptance import Case, cases, verdict

TABLE = r"""
age: {"<=":[18,"$age",75]}
  age=  UNKNOWN missing
  age:="   "  UNKNOWN missing
  -  UNKNOWN not_exported
alt: {"<":["$alt",120]}
  alt=NA  UNKNOWN missing_code
  alt=-999  UNKNOWN missing_code
  alt=<0.5  PASS
  alt=< 0.5  PASS
  alt=＜0.5  PASS
  alt=>120  FAIL
  alt=>100  UNKNOWN censored
  alt=ND  FAIL type_mismatch
  alt=NaN  FAIL type_mismatch
  alt=Infinity  FAIL type_mismatch
  alt=0x10  FAIL type_mismatch
vas: {"<=":[0,"$vas",10]}
  vas=0  PASS
sex: {"==":["$sex","0"]}
  sex=UNK  UNKNOWN missing_code
  sex=0  PASS
  sex:=0  PASS
dob: {"<":["$dob","2024-01-01"]}
  dob=UNK  UNKNOWN missing_code
bmi: {">=":["$bmi",18]}
  bmi=  UNKNOWN missing
age: {"==":["$age",null]}
  age:=null  PASS
  age=  PASS
  age=5  FAIL
  age=0  FAIL
  -  UNKNOWN not_exported
age: {"is_blank":["$age"]}
  age=  PASS
  age:=" "  PASS
  age=5  FAIL
  age=0  FAIL
  -  UNKNOWN not_exported
  age=NA  FAIL
age: {"!":["$age"]}
  age=  PASS
  age=5  FAIL
  age=0  FAIL
  -  UNKNOWN not_exported
age: {"!!":["$age"]}
  age=  FAIL
  age=0  PASS
  -  UNKNOWN not_exported
age: {"!":"$age"}
  age=  PASS
age: {"!!":"$age"}
  age=7  PASS
age: {"==":[null,"$age"]}
  age=  PASS
  age=5  FAIL
  age:=null  PASS
  age=0  FAIL
age: {"!=":["$age",null]}
  age=  FAIL
  age=5  PASS
  -  UNKNOWN not_exported
age: {"!=":[null,"$age"]}
  age=  FAIL
  age=5  PASS
age: {"===":["$age",null]}
  age=  PASS
age: {"===":[null,"$age"]}
  age=  PASS
age: {"!==":["$age",null]}
  age=  FAIL
age: {"!==":[null,"$age"]}
  age=  FAIL
dob: {"!=":["$dob",null]}
  dob=  FAIL
sex: {"!=":["$sex",null]}
  sex=1  PASS
  sex=NA  PASS
age: {"!":[{"missing":["age","alt"]}]}
  age=1; alt=2  PASS
  age=1; alt=  FAIL
  age=1  UNKNOWN not_exported
age: {"!":{"missing":"age"}}
  age=1  PASS
age: {"missing":["age"]}
  age=  PASS
  age=0  FAIL
age: {"!":[{"missing":["age"]}]}
  age=NA  PASS
age: {"==":[{"missing":["age"]},[]]}
  age=1  PASS
consent: {"!!":["$consent"]}
  consent=1  PASS
  consent=0  FAIL
  consent=  FAIL
  -  UNKNOWN not_exported
  consent=Yes  FAIL invalid_choice
consent: {"!":["$consent"]}
  consent=0  PASS
  consent=  PASS
  consent=1  FAIL
elig: {"!!":["$elig"]}
  elig=1  PASS
  elig=0  FAIL
consent: {"==":["$consent","1"]}
  consent=0  FAIL
  consent=  UNKNOWN missing
  consent=2  FAIL invalid_choice
consent: {"==":["$consent",1]}
  consent=1  PASS
consent: {"==":["$consent",true]}
  consent=1  PASS
sex: {"!!":["$sex"]}
  sex=0  PASS
sex: {"!":["$sex"]}
  sex=0  FAIL
ecog: {"in":["$ecog",["0","1"]]}
  ecog=1  PASS
  ecog=2  FAIL
  ecog=  UNKNOWN missing
ecog: {"in":["$ecog",[0,1]]}
  ecog=1  PASS
  ecog=2  FAIL
  ecog=  UNKNOWN missing
  ecog=01  FAIL invalid_choice
ecog: {"<=":["$ecog",2]}
  ecog=1  PASS
  ecog=3  FAIL
  ecog=9  FAIL invalid_choice
sex: {"==":["$sex",0]}
  sex=0  PASS
sex: {"!=":["$sex","0"]}
  sex=1  PASS
grade: {"==":["$grade","b"]}
  grade=b  PASS
  grade=B  FAIL invalid_choice
sex: {"or":[{"==":["$sex","0"]},true]}
  sex=5  FAIL invalid_choice
ecog: {"!":[{"in":["$ecog",[3,4]]}]}
  ecog=  UNKNOWN missing
alt: {">":["$alt",0.5]}
  alt=<0.5  FAIL
alt: {">=":["$alt",0.5]}
  alt=<0.5  FAIL
alt: {">":["$alt",0.3]}
  alt=<0.5  UNKNOWN censored
alt: {"<":["$alt",0.5]}
  alt=<0.5  PASS
  alt=<=0.5  UNKNOWN censored
alt: {"<=":["$alt",0.5]}
  alt=<0.5  PASS
  alt=<=0.5  PASS
alt: {"==":["$alt",0.5]}
  alt=<0.5  FAIL
alt: {"!=":["$alt",0.5]}
  alt=<0.5  PASS
alt: {"==":["$alt",0.3]}
  alt=<0.5  UNKNOWN censored
alt: {">":["$alt",5]}
  alt=>5  PASS
  alt=>=5  UNKNOWN censored
alt: {">=":["$alt",5]}
  alt=>5  PASS
  alt=≥5  PASS
alt: {"<=":["$alt",5]}
  alt=>5  FAIL
  alt=≤5  PASS
alt: {"<=":[1,"$alt",120]}
  alt=<0.5  FAIL
alt: {"<=":[0.1,"$alt",120]}
  alt=<0.5  UNKNOWN censored
alt: {"<":[{"*":["$alt",2]},1]}
  alt=<0.5  PASS
alt: {"<":["$alt","$ast"]}
  alt=<0.5; ast=>1  PASS
  alt=<0.5; ast=<1  UNKNOWN censored
  alt=9; ast=18  PASS
alt: {"!":[{">":["$alt",0.3]}]}
  alt=<0.5  UNKNOWN censored
hba: {"<":["$hba",7]}
  hba=<6,5  PASS
alt: {"or":[true,{"<":["$alt",120]}]}
  alt=ND  FAIL type_mismatch
alt: {"!":[{"<":["$alt",120]}]}
  alt=ND  FAIL type_mismatch
alt: {"if":[{"==":["$sex","1"]},{"<":["$alt",120]},true]}
  sex=0; alt=ND  FAIL type_mismatch
alt: {"<":["$alt",2000]}
  alt=1_000  FAIL type_mismatch
alt: {"==":["$alt",100]}
  alt=1e2  PASS
alt: {"==":["$alt",65]}
  alt:=" 65.0 "  PASS
alt: {"<":["$alt","120"]}
  alt=90  PASS
tbil: {">=":["$tbil",{"*":[3,"$tbil_uln"]}]}
  tbil=3.3; tbil_uln=1.1  PASS
tbil: {"<":["$tbil",{"*":[3,"$tbil_uln"]}]}
  tbil=3.3; tbil_uln=1.1  FAIL
alt: {"==":[{"+":["$alt","$ast"]},0.3]}
  alt=0.1; ast=0.2  PASS
age: {"<":["$age",75]}
  age:=65  PASS
  age=2.5  FAIL type_mismatch
alt: {">":[{"-":["$alt","$ast"]},0]}
  alt=; ast=3  UNKNOWN missing
hba: {"==":["$hba",6.5]}
  hba=6,5  PASS
  hba=6.5  FAIL type_mismatch
alt: {"==":[{"round_half_up":["$alt",1]},31.3]}
  alt=31.25  PASS
alt: {"==":[{"round_half_up":["$alt",0]},3]}
  alt=2.5  PASS
alt: {"==":[{"round_half_up":["$alt",0]},-3]}
  alt=-2.5  PASS
alt: {"==":[{"round_half_up":["$alt",0]},-2]}
  alt=-2.4  PASS
alt: {"==":[{"round_half_up":["$alt",2]},1.01]}
  alt=1.005  PASS
alt: {"==":[{"round_half_up":["$alt",1]},-31.3]}
  alt=-31.25  PASS
alt: {"==":[{"round_half_up":["$alt",1]},1]}
  alt=  UNKNOWN missing
notes: {"in":["肺炎","$notes"]}
  notes=有肺炎史  PASS
notes: {"!":[{"in":["肺炎","$notes"]}]}
  notes=  UNKNOWN missing
icf: {"!!":"$icf"}
  icf=  FAIL
age: {"<":[{"var":["age",5]},120]}
  age=  UNKNOWN missing
  -  UNKNOWN not_exported
alt: {"<":[{"+":["$alt","$ast",1]},10]}
  alt=3; ast=4  PASS
alt: {"<=":[{"max":["$alt","$ast"]},4]}
  alt=3; ast=4  PASS
alt: {"<":[{"min":["$alt","$ast"]},1]}
  alt=<0.5; ast=4  PASS
age: {"==":[{"%":["$age",2]},1]}
  age=7  PASS
code: {"==":[{"cat":["$code","-","$age"]},"A-7"]}
  code=A; age=7  PASS
code: {"==":[{"substr":["$code",0,2]},"AB"]}
  code=ABC  PASS
age: {"==":["$age","65"]}
  age=65  PASS
age: {"===":["$age",65]}
  age=65  PASS
sex: {"===":["$sex",1]}
  sex=1  PASS
age: {"in":["$age",[1,2]]}
  age=2.0  PASS
alt: {"<":[1,"$alt",5]}
  alt=5  FAIL
alt: {"<=":["$alt","$ast",5]}
  alt=; ast=9  FAIL
grade: {"in":["$grade",["a","b"]]}
  grade=a  PASS
sex: {"==":["$sex","$ecog"]}
  sex=1; ecog=1  PASS
notes: {"matches":["$notes","[^\\n]*"]}
  notes:="a\nb"  FAIL
alt: {"and":[{"<":["$alt",3]},{"<":["$ast",3]}]}
  ast=  UNKNOWN not_exported
alt: {"<":["$alt",1000000.0]}
  alt=>1e3  UNKNOWN censored
alt: {"<":["$alt",0]}
  alt=<-1  PASS
alt: {"<":["$alt",3]}
  alt=<abc  FAIL type_mismatch
  alt=~2  FAIL type_mismatch
"""


@pytest.mark.parametrize("case", cases(TABLE), ids=str)
def test_values(case: Case) -> None:
    assert verdict(case) == case.expected
