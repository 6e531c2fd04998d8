# The tests that `npm test` leaves out, on the oldest supported Postgres if this machine has it; otherwise on the one that
# comes with the tests.
set -euo pipefail
export TEST_SUITE=rest
oldest=/usr/lib/postgresql/15/bin
[ -x "$oldest/initdb" ] && [ "$(id -u)" != 0 ] || exec npm run --silent jest -- --maxWorkers=3

data=$TMPDIR/postgres
port=$(node --input-type=module -e 'import { freePort } from "./test/support/postgres.mjs"; console.log(await freePort())')
"$oldest/initdb" -D "$data" -U postgres --auth=trust --encoding=UTF8 --locale=C --no-sync >/dev/null
printf '%s\n' "port = $port" 'max_connections = 300' "unix_socket_directories = ''" \
  'fsync = off' 'synchronous_commit = off' 'full_page_writes = off' >>"$data/postgresql.conf"
"$oldest/pg_ctl" -D "$data" -l "$data/log" -w start >/dev/null
trap '"$oldest/pg_ctl" -D "$data" -m immediate stop >/dev/null' EXIT
TEST_DATABASE_URL="postgres://postgres@127.0.0.1:$port/postgres" npm run --silent jest -- --maxWorkers=3
