"""The visit board: subjects by visits, the week, the month, and the same as a calendar file."""
