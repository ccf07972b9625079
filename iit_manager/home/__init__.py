"""The first page of the console: what each of a person's roles looks after, study by study."""
