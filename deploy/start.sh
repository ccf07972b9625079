#!/bin/sh
# Becomes one process of the house as the Procfile says it; an optional one stands there behind a "# ".
# usage: deploy/start.sh NAME                e.g. web, worker, beat
set -eu
cd "$(dirname "$0")/.."
name=${1:?usage: deploy/start.sh NAME}
command=$(sed -n "s/^\(# \)\{0,1\}$name: //p" Procfile)
if [ -z "$command" ]; then
  echo "no process of this name in the Procfile: $name" >&2
  exit 2
fi
PATH="$PWD/.venv/bin:$PATH"
export PATH
exec sh -c "exec $command"
