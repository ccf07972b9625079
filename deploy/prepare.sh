#!/bin/sh
# Brings database, cache table and static files to this version. Run it once before the processes start, and again
# after each update. Nothing is lost by running it twice.
set -eu
cd "$(dirname "$0")/.."
python=.venv/bin/python
# After a power cut the database's machine may be up later than this one.
$python manage.py await_database
$python manage.py check
$python manage.py migrate --noinput
$python manage.py createcachetable
$python manage.py collectstatic --noinput
