"""A second opinion on StudyQuery: written from contracts.md alone, slowly, without the product.

Nothing here may import rules, study, projects or any other room; `test_query_oracle.py` checks that.
"""
