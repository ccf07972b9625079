"""One subject on one page: visits, labs, events and medication, findings, reviews and runs."""
