"""StudyQuery: the one query language over a study's data (contracts.md, StudyQuery and facts). Pure."""
