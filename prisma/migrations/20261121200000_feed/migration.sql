-- What the log tells about, as it is now: one line of a snapshot each, and what a change carries.
create view originstate as
select o.name as origin, o.tenant, row_to_json(known) as state
from origin o, lateral (select o.name, o.isdefault, o.profile) known;

create view subscriptionstate as
select s.id, s.tenant, s.origin, row_to_json(known) as state
from subscription s, lateral (
  select s.id, s.origin, s.sink, s.source, s.types, s.subject, s.filters, s.protocolsettings,
    s.sinkcredential is not null as hascredential, s.suspendedat is not null as suspended
) known;

-- A webhook that asked for a rest (429 with Retry-After) gets it from every sender.
alter table "grant" add column helduntil timestamptz(3);

create view grantstate as
select g.id, g.origin, g.sink, g.tenant, row_to_json(known) as state
from "grant" g, lateral (
  select g.id, g.origin, g.sink, g.state, g.basis, g.allowedrate, g.expiresat, g.helduntil
) known;

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
-- it for ever. One notification wakes who follows. What a change is about is looked up by its key, whatever a plan that was
-- made while a table was small would do.
create function append_changes(tenants text[], origins text[], kinds text[], sinks text[], subscriptions uuid[])
returns void language plpgsql
set timezone = 'UTC' set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  perform pg_advisory_xact_lock(7266112002);
  insert into change (tenant, origin, kind, sink, subscription, state)
  select c.tenant, c.origin, c.kind, c.sink, c.subscription, (case
    when c.kind = 'origin.changed' then (select s.state from originstate s where s.origin = c.origin)
    when c.subscription is not null
      then (select case when s.origin = c.origin then s.state end from subscriptionstate s where s.id = c.subscription)
    else (select s.state from grantstate s where s.origin = c.origin and s.sink = c.sink)
  end)::jsonb
  from unnest(tenants, origins, kinds, sinks, subscriptions)
    with ordinality as c (tenant, origin, kind, sink, subscription, place)
  order by c.place;
  perform pg_notify('assent_change', '');
end
$$;
