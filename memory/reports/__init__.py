"""The weekly report: figures from data, narrative from the flow log, kept beside what people wrote.

`metrics` and `narrator` are the registries that higher layers fill, `narrative` distils the week's
conversations, `text` composes and merges, `book` writes, `job` decides which week is next.
"""
