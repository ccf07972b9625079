#!/usr/bin/env bash
# Runs a command with DATABASE_URL and REDIS_URL of a PostgreSQL and a Redis: those that are set, else those that
# answer on this machine, else ones started from the binaries for this command. Without any, runs it without.
# usage: tests/services.sh COMMAND [ARGUMENT ...]
PG_DIR=""
REDIS_PID=""

start_postgres() {
  for url in postgresql://postgres@127.0.0.1:5432/postgres "postgresql://$(id -un)@127.0.0.1:5432/postgres"; do
    if answers "$url"; then DATABASE_URL="$url"; return 0; fi
  done
  local bin
  bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1)
  [ -x "$bin/initdb" ] || bin=$(dirname "$(command -v initdb 2>/dev/null || echo /nonexistent/x)")
  [ -x "$bin/initdb" ] || return 1
  PG_DIR=$(mktemp -d)
  PG_BIN="$bin"
  [ "$(id -u)" = 0 ] && chown nobody "$PG_DIR"
  unprivileged "$bin/initdb" -D "$PG_DIR/data" -U postgres -A trust -E UTF8 >/dev/null || return 1
  unprivileged "$bin/pg_ctl" -D "$PG_DIR/data" -w -o "-p 55432 -k $PG_DIR -c listen_addresses=127.0.0.1" -l "$PG_DIR/log" start >/dev/null || return 1
  DATABASE_URL=postgresql://postgres@127.0.0.1:55432/postgres
  answers "$DATABASE_URL"
}

start_redis() {
  if reaches 6379; then REDIS_URL=redis://127.0.0.1:6379/9; return 0; fi
  command -v redis-server >/dev/null || return 1
  redis-server --port 56379 --bind 127.0.0.1 --save "" --appendonly no >/dev/null &
  REDIS_PID=$!
  for _ in $(seq 50); do reaches 56379 && break; sleep 0.1; done
  REDIS_URL=redis://127.0.0.1:56379/9
  reaches 56379
}

stop_services() {
  [ -n "$PG_DIR" ] && unprivileged "$PG_BIN/pg_ctl" -D "$PG_DIR/data" -m fast stop >/dev/null
  [ -n "$REDIS_PID" ] && kill "$REDIS_PID"
  return 0
}

# PostgreSQL refuses to run as root.
unprivileged() { if [ "$(id -u)" = 0 ]; then (cd / && setpriv --reuid=nobody --regid=nogroup --clear-groups -- "$@"); else "$@"; fi; }

answers() { .venv/bin/python -c "import psycopg,sys; psycopg.connect(sys.argv[1], connect_timeout=3)" "$1" 2>/dev/null; }
reaches() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

trap stop_services EXIT
if [ -z "${DATABASE_URL:-}" ] && [ -z "${REDIS_URL:-}" ]; then
  if start_postgres && start_redis; then export DATABASE_URL REDIS_URL; else unset DATABASE_URL REDIS_URL; fi
fi
"$@"
