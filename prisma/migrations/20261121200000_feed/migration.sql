-- What the log tells about, as it is now: one line of a snapshot each, and what a change carries.
create view originstate as
select name, tenant, jsonb_build_object(
  'name', name, 'isdefault', isdefault, 'profile', profile
) as state
from origin;

create view subscriptionstate as
select id, tenant, origin, jsonb_build_object(
  'id', id, 'origin', origin, 'sink', sink, 'source', source, 'types', types, 'subject', subject, 'filters', filters,
  'protocolsettings', protocolsettings, 'hascredential', sinkcredential is not null, 'suspended', suspendedat is not null
) as state
from subscription;

-- A webhook that asked for a rest (429 with Retry-After) gets it from every sender.
alter table "grant" add column helduntil timestamptz(3);

create view grantstate as
select origin, sink, tenant, jsonb_build_object(
  'id', id, 'origin', origin, 'sink', sink, 'state', state, 'basis', basis, 'allowedrate', allowedrate,
  'expiresat', to_char(expiresat at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
  'helduntil', to_char(helduntil at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
) as state
from "grant";

-- What became of the thing that a change is about; null where it is gone.
alter table change add column state jsonb;
create index change_at_idx on change (at);

-- One row: which history the positions belong to, what protects cursors, and up to where the log was forgotten.
create table feed (
  id boolean not null default true,
  epoch uuid not null,
  cluster text not null,
  secret bytea not null,
  horizon bigint not null,
  constraint feed_pkey primary key (id),
  constraint feed_id_check check (id)
);
-- What was logged before carries no state and cannot be followed.
insert into feed (epoch, cluster, secret, horizon)
select gen_random_uuid(), '', decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'), coalesce(max(position), 0)
from change;

-- Appends to the ordered log; the last thing that a transaction does. The lock is held until that commits, so that
-- positions become visible in their order: a sequence alone would let a reader pass a position that commits late, and miss
-- it for ever. One notification wakes who follows.
create function append_changes(tenants text[], origins text[], kinds text[], sinks text[], subscriptions uuid[])
returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(7266112002);
  insert into change (tenant, origin, kind, sink, subscription, state)
  select c.tenant, c.origin, c.kind, c.sink, c.subscription, case
    when c.kind = 'origin.changed' then (select s.state from originstate s where s.name = c.origin)
    when c.subscription is not null
      then (select s.state from subscriptionstate s where s.id = c.subscription and s.origin = c.origin)
    else (select s.state from grantstate s where s.origin = c.origin and s.sink = c.sink)
  end
  from unnest(tenants, origins, kinds, sinks, subscriptions)
    with ordinality as c (tenant, origin, kind, sink, subscription, place)
  order by c.place;
  perform pg_notify('assent_change', '');
end
$$;
