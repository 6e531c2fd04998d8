-- A kind of plan that is forbidden costs ten thousand million where nothing else will do, up to Postgres 17. From a hundred
-- thousand on Postgres compiles a statement before it runs it, anew at each call: four fifths of the time of a registration.
alter function put_grants(jsonb) set jit = off;
alter function log_changes(text[], text[], text[], text[], uuid[]) set jit = off;
alter function write_batch(jsonb, jsonb, uuid, float8, int, int, int, int, int, int, int) set jit = off;
