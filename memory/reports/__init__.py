"""The weekly report: figures from data, narrative from the flow log, kept beside what people wrote.

`metrics` counts, `narrative` distils the week's conversations with `narrator`, `text` composes and merges,
`report_store` writes, `job` decides which week is next, `history` is what a prompt gets.
"""
