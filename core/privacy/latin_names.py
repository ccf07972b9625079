"""Names of people in Latin letters: English ones, and Chinese ones in pinyin."""

from __future__ import annotations

# Titles of forms and scales stand after "patient" and "name:" as names do.
_TITLE = (
    "Reported|Completed|Diagnosed|Treated|Enrolled|Randomi[sz]ed|Screened|Related|Based|Centered|Derived|Withdrawn|"
    "Outcomes?|Health|Sheets?|Leaflet|Diary|Cards?|Forms?|Lists?|Logs?|Study|Trials?|Visits?|Days?|Weeks?|Months?|Cycles?|"
    "Adverse|Events?|Serious|Severe|Global|Overall|Quality|Life|Blood|Pressure|Weight|Height|Body|Heart|Liver|Kidney|Lung|"
    "Breast|Cancer|Disease|Type|Status|Numbers?|Codes?|Group|Arm|Levels?|Dose|Dosing|Drugs?|Tablets?|Capsules?|Injection|"
    "Sodium|Potassium|Calcium|Chloride|Sulfate|Acid|Vitamin|White|Red|Cells?|Counts?|Test|Results?|Score|Scale|Index|"
    "Initials?|Names?|Data|Base|Baseline|Screening|Imaging|Rating|Testing|Training|Reporting|Monitoring|Bleeding|Smoking|"
    "Staging|Medical|History|Record|Records|Report|Summary|Consent|Informed|Assessment|Treatment|Management|Enrolment|"
    "Enrollment|Involvement|Improvement|Experience|Preference|Compliance|Adherence|Advocate|Care|Safety|Support|Portal|Guide|"
    "Phase|Part|Site|Center|Centre|Hospital|Clinic|University|Department|Project|Protocol|Version|Page|Table|Figure|"
    "One|Two|Three|First|Second|Last|New|Old|Has|Have|Had|Is|Was|Were|Are|The|With|Without|Who|And|Or|In|On|At|Of|For|To|"
    "From|Not|No|Yes|Will|Must|Should|May|Can|After|Before|During|Did|Does|Do|Female|Male|Sex|Gender|Age|Years?|Race|"
    "Primary|Secondary|Final|Early|Late|Left|Right|Concomitant|Physical|Clinical|Laboratory|Vital|Signs?|Excel|Word|Office|"
    "Follow|Up|End|Start|Date|Time|Unit|Value|Field|File|Image|Model|System|User|Required|Unknown|Unscheduled"
)
_ENDINGS = (
    "tion|sion|ness|[a-z]ity|ology|ship|ical|ible|able|aire|osis|itis|emia|"
    "mab|nib|cillin|mycin|statin|platin|taxel"
)
_NO_NAME = rf"(?:(?:{_TITLE})|[A-Z][a-z]{{2,14}}(?:{_ENDINGS})s?)\b"
_WORD = rf"(?!{_NO_NAME})[A-Z][a-z]{{1,20}}"
_WORDS = rf"{_WORD}(?:\s+{_WORD}){{1,2}}"

_CAPITALS = rf"(?!(?i:{_TITLE})\b)[A-Z]{{2,20}}"

_SYLLABLE = (
    "(?:[zcs]h?|[bpmfdtnlgkhjqxryw])?(?:i?ang|i?ong|uang|eng|ing|ian|iao|uai|uan|an|en|in|un|ai|ei|ao|ou|ia|ie|iu|ua|ue|ve|"
    "ui|uo|er|[aeiouv])"
)
_GIVEN = rf"{_SYLLABLE}[-']?(?:{_SYLLABLE})?"
_FAMILY = (
    "(?:wang|li|zhang|liu|chen|yang|zhao|huang|zhou|wu|xu|sun|hu|zhu|gao|lin|he|guo|ma|luo|liang|song|zheng|xie|han|tang|"
    "feng|yu|dong|xiao|cheng|cao|yuan|deng|fu|shen|zeng|peng|lv|lyu|su|lu|jiang|cai|jia|ding|wei|xue|ye|yan|pan|du|dai|xia|"
    "zhong|tian|ren|fan|fang|shi|yao|tan|liao|zou|xiong|jin|hao|kong|bai|cui|kang|mao|qiu|qin|gu|hou|shao|meng|long|wan|duan|"
    "lei|qian|yin|yi|chang|qiao|lai|gong|wen|niu|fei|ji|zang|lan|guan|yue|sheng|che|mei|min|bao|ni|shu|chu|pei|ge|"
    "ouyang|situ|sima|zhuge|shangguan|murong|linghu|dongfang|xiahou)"
)
_PINYIN = rf"(?:{_FAMILY}[\s,]\s?{_GIVEN}|{_GIVEN}\s{_FAMILY})(?![A-Za-z])"
# Of whom the name is said: "drug name" and "form name" say it of no person.
_BARE_NAME = (
    r"(?:(?<![A-Za-z]\sname)|(?<=(?:full|last|real)\sname)|(?<=(?:given|first|legal)\sname)|"
    r"(?<=(?:his|her)\sname))"
)
_CUE = (
    r"[PpSsNn](?<![A-Za-z_].)(?i:(?:(?<=p)(?:atient|t)|(?<=s)ubject)(?:'s)?\.?(?:[\s_](?:full\s)?name)?"
    rf"|(?<=n)ame{_BARE_NAME})(?![A-Za-z])"
)
_SAYS = r"(?:\s{0,3}(?i:is\b)|[\s:=>\"'“(\\]){0,9}"

LATIN_NAMES = (
    (rf"{_CUE}{_SAYS}({_WORDS})\b"),
    (rf"{_CUE}{_SAYS}((?i:{_PINYIN}))"),
    (
        rf"{_CUE}(?<=(?i:name))\s{{0,9}}(?:is|[:=])[\s\"'“]{{0,9}}(?![A-Z]{{2,3}}\s+[A-Z]{{2,3}}\b)"
        rf"({_CAPITALS}(?:\s+{_CAPITALS}){{1,2}})\b"
    ),
    (
        rf"[MDP](?<![A-Za-z].)(?:(?<=M)(?:rs?|s|iss)|(?<=D)r|(?<=P)rof)\b\.?\s{{1,3}}({_WORD}(?:\s+{_WORD})?)\b"
    ),
    (rf"[者人名](?<=患者|试者|病人|与者|姓名|家属)(?:姓名|名)?[\s:=(\"'“]{{0,5}}((?i:{_PINYIN}))"),
    (
        rf"[者人属名](?<=患者|试者|病人|家属|姓名)[\s:=(\"'“]{{0,5}}({_WORDS})"
        r"(?=\s?(?:$|[,;、()|。\n]|的|今|昨|明|电话|男|女|来|复查|复诊|入组|出组))"
    ),
    (r"[者人](?<=患者|试者|病人)[\s:=(]{0,5}([A-Z]\.\s?[A-Z]\.(?:\s?[A-Z]\.)?)"),
    (
        rf"[A-Z](?<![A-Za-z].)(?<=(?=(?i:{_PINYIN})).)([A-Za-z'-]{{1,20}}\s[A-Za-z'-]{{1,20}})"
        r"(?=[\s,(|/]{1,3}(?:[Ff]emale|[Mm]ale|\d{1,3}\s?(?:years|y/o|yo)\b))"
    ),
)
"""Patterns; what to mask is the first group of each."""
