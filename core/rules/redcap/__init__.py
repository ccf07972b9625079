"""REDCap's own logic: branching, calculations and Data Quality rules, three-valued.

`parser` reads a text (limits, no eval), `nodes` and `functions` evaluate it over a `nodes.View`, `rows` is
the view of an exported row, `calculation` what a calculated field should hold. Sources:
reference/redcap_dify.md 1.14 and *Functions of REDCap's logic*.
"""
