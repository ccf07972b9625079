"""Standard checks: what any study is checked for, switched on by a node's `checks` (issue I, Findings).

`kinds` names them, `dictionary` and `course` make rules of the data dictionary and the visit plan as a run
comes by, `adverse` and `twins` look at what no rule of one row can see, `shadow` works out REDCap's
calculations, `run` says what all found.
"""
