#!/bin/sh
# Puts this checkout and the pinned packages into an empty folder. The image is built by this script, too.
# usage: deploy/install.sh TARGET            PYTHON=python3.13 chooses the interpreter (3.11 or newer)
set -eu
target=${1:?usage: deploy/install.sh TARGET}
source=$(cd "$(dirname "$0")/.." && pwd)
if [ -e "$target" ] && [ -n "$(ls -A "$target")" ]; then
  echo "$target is not empty: an update is described in docs/operating/upgrade.md" >&2
  exit 1
fi
mkdir -p "$target"
# What runs in a hospital: neither the tests nor what a checkout gathers beside its files.
tar -C "$source" -cf - --exclude='./.git' --exclude='./.venv' --exclude='./.env' --exclude='./var' \
  --exclude='./tests' --exclude='./deploy/iit.env' --exclude='./deploy/*.secret' --exclude='__pycache__' --exclude='./.*_cache' . | tar -C "$target" -xf -
"${PYTHON:-python3}" -m venv "$target/.venv"
"$target/.venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes \
  -r "$target/requirements.txt"
"$target/.venv/bin/python" -m compileall -q "$target" >/dev/null
echo "installed in $target: copy .env.example to .env, fill it in, then deploy/prepare.sh"
