"""What a study hands out: reports and lists, made for their reader from queries."""
