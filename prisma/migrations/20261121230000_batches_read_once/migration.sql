-- The same batches for less: what comes as JSON is read once, what belongs together is written by one statement, and every
-- plan is made once for each connection, for members that are few and always looked up. Callers see no difference.

-- Nobody looks for an audit entry without its tenant, or for a change by its time.
alter table audit drop constraint audit_pkey;
drop index audit_tenant_id_idx;
alter table audit add constraint audit_pkey primary key (tenant, id);
drop index change_at_idx;
-- Every attempt is written twice: room for the second time beside the first.
alter table attempt set (fillfactor = 50);

-- A registration, as write_batch is given it.
create type registration as (
  place int, id uuid, handshake uuid, atonce boolean, audit uuid, tenant text, subscriber text, actor text, requestid text,
  origin text, originversion int, origincreatedat timestamptz, sink text, sinkhost text, domain text, protocol text,
  protocolsettings jsonb, source text, types text[], subject text, filters jsonb, config jsonb, sinkcredential text,
  credentialtype text, requestedrate int, askedrate int, auditdetail jsonb, key text, operation text, fingerprint text,
  requestheaders jsonb, callbackkeyhash text
);

-- A consent, as put_grants and write_batch are given it; the latter with the answer that it was found in.
create type consent as (
  place int, id uuid, origin text, sink text, tenant text, basis text, allowedorigin text, allowedrate text,
  requestedrate int, warnings text[], handshake uuid, reference text, recordedby text, until timestamptz, leaseseconds int,
  renewafter int, verdict text, status int, answerheaders jsonb, remoteaddress text, timing jsonb, originversion int,
  origincreatedat timestamptz, lease uuid, number int, auditsink text, grantaudit uuid, audit uuid
);

-- put_grants, as it was, for consents that are read already; of these handshakes only, where they are named.
create function put_consents(consents consent[], wanted uuid[] default null) returns setof "grant" language plpgsql as $$
begin
  return query insert into "grant" as present (origin, sink, id, tenant, state, basis, allowedorigin, allowedrate, requestedrate,
    warnings, handshake, reference, recordedby, grantedat, expiresat, renewat)
  select c.origin, c.sink, c.id, c.tenant, 'live', c.basis, c.allowedorigin, c.allowedrate, c.requestedrate,
    coalesce(c.warnings, '{}'), c.handshake, c.reference, c.recordedby, now(),
    coalesce(c.until, now() + make_interval(secs => c.leaseseconds)), now() + make_interval(secs => c.renewafter)
  from unnest(consents) c where wanted is null or c.handshake = any (wanted)
  order by c.origin collate "C", c.sink collate "C"
  on conflict (origin, sink) do update set
    state = 'live', endreason = null, endedat = null, endedby = null,
    allowedorigin = excluded.allowedorigin, allowedrate = excluded.allowedrate, requestedrate = excluded.requestedrate,
    warnings = excluded.warnings, handshake = excluded.handshake, recordedby = excluded.recordedby,
    grantedat = excluded.grantedat, version = present.version + 1,
    -- A rest that the webhook asked for goes on through a renewal, and ends with the grant that it was for.
    helduntil = case when present.state = 'live' and present.expiresat > now() then present.helduntil end,
    basis = case when present.basis = 'agreement' and present.state = 'live' and present.expiresat > now()
      and excluded.basis <> 'agreement' then present.basis else excluded.basis end,
    reference = case when present.basis = 'agreement' and present.state = 'live' and present.expiresat > now()
      and excluded.basis <> 'agreement' then present.reference else excluded.reference end,
    expiresat = case when present.basis = 'agreement' and present.state = 'live' and present.expiresat > now()
      and excluded.basis <> 'agreement' then present.expiresat else excluded.expiresat end,
    renewat = case when present.basis = 'agreement' and present.state = 'live' and present.expiresat > now()
      and excluded.basis <> 'agreement' then null else excluded.renewat end
  where (present.state <> 'revoked' or excluded.basis = 'agreement')
    and not (excluded.basis = 'policy' and present.basis <> 'policy' and present.state = 'live'
      and present.expiresat > now())
  returning *;
end
$$;

create or replace function put_grants(consents jsonb) returns setof "grant"
language sql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
  select * from put_consents(array(select c from jsonb_populate_recordset(null::consent, consents) c));
$$;

-- Appends to the ordered log, as before; and tells what was appended, right after which position, so that the process that
-- wrote it need not read it again. Whoever is notified is told up to where.
create function log_changes(tenants text[], origins text[], kinds text[], sinks text[], subscriptions uuid[])
returns json language plpgsql
set timezone = 'UTC' set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  before bigint;
  last bigint;
  changes json;
begin
  perform pg_advisory_xact_lock(7266112002);
  select greatest(f.horizon, (select max(position) from change)) into before from feed f;
  with appended as (
    insert into change (tenant, origin, kind, sink, subscription, state)
    select c.tenant, c.origin, c.kind, c.sink, c.subscription, (case
      when c.kind = 'origin.changed' then (select s.state from originstate s where s.origin = c.origin)
      when c.subscription is not null
        then (select case when s.origin = c.origin then s.state end from subscriptionstate s where s.id = c.subscription)
      else (select s.state from grantstate s where s.origin = c.origin and s.sink = c.sink)
    end)::jsonb
    from unnest(tenants, origins, kinds, sinks, subscriptions)
      with ordinality as c (tenant, origin, kind, sink, subscription, place)
    order by c.place
    returning position, at, tenant, origin, kind, sink, subscription, state
  )
  select max(position), json_agg(json_build_object('position', position::text,
    'at', to_char(at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'tenant', tenant, 'origin', origin, 'kind', kind, 'sink', sink,
    'subscription', subscription, 'state', state::text))
  into last, changes from appended;
  perform pg_notify('assent_change', last::text);
  return json_build_object('after', before::text, 'changes', changes);
end
$$;

-- The same, for who need not be told.
create or replace function append_changes(tenants text[], origins text[], kinds text[], sinks text[], subscriptions uuid[])
returns void language plpgsql as $$
begin
  perform log_changes(tenants, origins, kinds, sinks, subscriptions);
end
$$;

drop function admit_handshakes(jsonb, int, int, int, int, int);
drop function register_subscriptions(jsonb, uuid, float8, int, int, int, int, int, int, int);
drop function settle_consents(jsonb);

-- Which of these registrations may be asked now: places in flight for its host and its tenant are free over all processes,
-- and the budgets of this minute have room, which is taken at once. Ranks are counted among all members, so a member may
-- be told to wait although there was room; never the other way round. Returns their handshakes.
create function admit_handshakes(
  members registration[], perhost int, pertenant int, tenantperminute int, hostperminute int, domainperminute int
) returns uuid[] language plpgsql as $$
declare
  moment bigint := floor(extract(epoch from clock_timestamp()) * 1000);
  admitted uuid[];
begin
  perform pg_advisory_xact_lock(7266112003);
  -- Room is taken for all of them, which holds the rows until the commit, and given back for those that have to wait. A
  -- window that is over begins anew.
  with wanted as materialized (
    select k.key, count(*)::int as points from unnest(members) m
    cross join lateral (values ('tenant:' || m.tenant), ('host:' || m.sinkhost), ('domain:' || m.domain)) k (key)
    where k.key is not null group by k.key
  ), taken as (
    insert into budget as present (key, points, expire)
    select key, points, moment + 60000 from wanted order by key collate "C"
    on conflict (key) do update set
      points = excluded.points
        + case when present.expire is null or present.expire <= moment then 0 else present.points end,
      expire = case when present.expire is null or present.expire <= moment then excluded.expire else present.expire end
    returning key, points
  ), used as materialized (
    select key, taken.points - wanted.points as points from taken join wanted using (key)
  ), busy as materialized (
    select tenant, sinkhost, count(*) as count from handshake where state = 'asking' and leaseduntil > now()
    group by tenant, sinkhost
  ), ranked as materialized (
    select m.handshake, m.tenant, m.sinkhost, m.domain,
      row_number() over (partition by m.tenant order by m.place) as tenantrank,
      row_number() over (partition by m.sinkhost order by m.place) as hostrank,
      row_number() over (partition by m.domain order by m.place) as domainrank
    from unnest(members) m
  ), tenants as materialized (
    select t.tenant, least(
      pertenant - coalesce((select sum(busy.count) from busy where busy.tenant = t.tenant), 0),
      tenantperminute - (select points from used where key = 'tenant:' || t.tenant)) as room
    from (select distinct tenant from ranked) t
  ), hosts as materialized (
    select h.sinkhost, least(
      perhost - coalesce((select sum(busy.count) from busy where busy.sinkhost = h.sinkhost), 0),
      hostperminute - (select points from used where key = 'host:' || h.sinkhost)) as room
    from (select distinct sinkhost from ranked) h
  )
  select array_agg(r.handshake) into admitted
  from ranked r
  join tenants t on t.tenant = r.tenant and r.tenantrank <= t.room
  join hosts h on h.sinkhost = r.sinkhost and r.hostrank <= h.room
  left join used d on d.key = 'domain:' || r.domain
  where d.key is null or r.domainrank <= domainperminute - d.points;

  if admitted is null or cardinality(admitted) < cardinality(members) then
    update budget b set points = b.points - back.points
    from (
      select k.key, count(*) as points from unnest(members) m
      cross join lateral (values ('tenant:' || m.tenant), ('host:' || m.sinkhost), ('domain:' || m.domain)) k (key)
      where k.key is not null and (admitted is null or m.handshake <> all (admitted))
      group by k.key
    ) back
    where b.key = back.key;
  end if;
  return coalesce(admitted, '{}');
end
$$;

-- Subscriptions with the handshake that each calls for, and its audit entry. What is to be asked at once, and may be, is
-- born `asking` under the lease, with its first attempt recorded. `created` are those that were; answers have an outcome:
--   created         with whether there is a handshake, and whether it is asked now
--   replayed        the Idempotency-Key stood in the same request before; `resource` is what that one created
--   reused          the key stood in another request
--   origin_differs  the origin is not as the caller remembers it; nothing was written for this member
-- No two members have the same Idempotency-Key.
create function register_subscriptions(
  members registration[], holder uuid, leaseseconds float8, callbackseconds int, places int,
  perhost int, pertenant int, tenantperminute int, hostperminute int, domainperminute int,
  out created registration[], out answers json
) language plpgsql as $$
declare
  keyed boolean := exists (select 1 from unnest(members) m where m.key is not null);
  claimed uuid[];
  accepted uuid[];
  questions uuid[];
  asking uuid[] := '{}';
begin
  if keyed then
    with inserted as (
      insert into idempotency (tenant, subscriber, key, operation, fingerprint, resource)
      select m.tenant, m.subscriber, m.key, m.operation, decode(m.fingerprint, 'hex'), m.id::text from unnest(members) m
      where m.key is not null order by m.tenant collate "C", m.subscriber collate "C", m.key collate "C"
      on conflict do nothing returning idempotency.resource
    ) select array_agg(inserted.resource::uuid) into claimed from inserted;
  end if;

  -- An origin stays until the transaction ends.
  perform 1 from origin o where o.name in (select m.origin from unnest(members) m) order by o.name collate "C" for key share;
  select array_agg(m), array_agg(m.id) into created, accepted
  from unnest(members) m
  join origin o on o.name = m.origin and o.tenant = m.tenant and o.version = m.originversion
    and o.createdat = m.origincreatedat
  where m.key is null or m.id = any (claimed);
  if keyed then
    delete from idempotency i using unnest(members) m
    where i.tenant = m.tenant and i.subscriber = m.subscriber and i.key = m.key and i.resource = m.id::text
      and m.id = any (claimed) and (accepted is null or m.id <> all (accepted));
  end if;

  if created is not null then
    -- As whoever else comes to a pair or leaves it.
    perform pg_advisory_xact_lock(hashtextextended(pair.name, 0)) from (
      select distinct (m.origin || ' ' || m.sink) collate "C" as name from unnest(created) m order by 1
    ) pair;
    -- Nothing that a webhook says would count where an admin revoked the grant of the pair.
    select array_agg(m.handshake) into questions from unnest(created) m
    where not exists (select 1 from "grant" g where g.origin = m.origin and g.sink = m.sink and g.state = 'revoked');
    if questions is not null and places > 0 then
      select admit_handshakes(array_agg(m), perhost, pertenant, tenantperminute, hostperminute, domainperminute) into asking
      from (
        select m from unnest(created) m where m.atonce and m.handshake = any (questions) order by m.place limit places
      ) next (m)
      having count(*) > 0;
      asking := coalesce(asking, '{}');
    end if;
    with m as materialized (select * from unnest(created)),
    subscribed as (
      insert into subscription (id, tenant, subscriber, origin, sink, protocol, protocolsettings, source, types, subject,
        filters, config, sinkcredential, credentialtype, requestedrate)
      select m.id, m.tenant, m.subscriber, m.origin, m.sink, m.protocol, m.protocolsettings, m.source,
        coalesce(m.types, '{}'), m.subject, m.filters, m.config, m.sinkcredential, m.credentialtype, m.requestedrate
      from m
    ), questioned as (
      insert into handshake (id, tenant, origin, sink, sinkhost, subscription, generation, reason, startedby,
        requestedrate, state, dueat, attempts, lease, leaseduntil)
      select m.handshake, m.tenant, m.origin, m.sink, m.sinkhost, m.id, 1, 'registration', m.actor, m.askedrate,
        -- A column of milliseconds would round up.
        case when m.asked then 'asking' else 'due' end, date_trunc('milliseconds', now()), case when m.asked then 1 else 0 end,
        case when m.asked then holder end, case when m.asked then now() + make_interval(secs => leaseseconds) end
      from (select m.*, m.handshake = any (asking) as asked from m where m.handshake = any (questions)) m
    ), begun as (
      insert into attempt (handshake, number, requestheaders, callbackkeyhash, callbackexpiresat)
      select m.handshake, 1, m.requestheaders, decode(m.callbackkeyhash, 'hex'),
        case when m.callbackkeyhash is not null then now() + make_interval(secs => callbackseconds) end
      from m where m.handshake = any (asking)
    )
    insert into audit (id, tenant, actor, action, target, detail, requestid)
    select m.audit, m.tenant, m.actor, 'subscription.created', 'subscription:' || m.id, m.auditdetail, m.requestid from m;
  end if;

  select json_agg(json_build_object(
    'place', m.place,
    'outcome', case
      when m.id = any (accepted) then 'created'
      when i.resource is null then 'origin_differs'
      when i.operation = m.operation and i.fingerprint = decode(m.fingerprint, 'hex') then 'replayed'
      else 'reused'
    end,
    'resource', i.resource, 'question', coalesce(m.handshake = any (questions), false),
    'asked', m.handshake = any (asking), 'at', now()::timestamptz(3)
  )) into answers
  from unnest(members) m
  left join idempotency i on i.tenant = m.tenant and i.subscriber = m.subscriber and i.key = m.key;
end
$$;

-- asking -> granted, or refused where the grant is revoked, for handshakes whose webhook agreed; with the attempt, the
-- grant and the audit entries. A null state means that the handshake was not the caller's to move any more.
-- `origin_differs` means that nothing was written, because the origin is not as the answer was judged by. With what was
-- granted comes how it stands now, and the version of the subscription, so that nobody need read it again.
-- No two members have the same pair; who else holds several handshakes holds those of one pair.
create function settle_consents(members consent[], out granted uuid[], out answers json) language plpgsql as $$
declare
  refused uuid[];
begin
  with judged as materialized (
    select m.* from unnest(members) m
    join origin o on o.name = m.origin and o.tenant = m.tenant and o.version = m.originversion
      and o.createdat = m.origincreatedat
  ), kept as (
    -- Whoever the handshake belongs to by now: it happened.
    update attempt a set finishedat = now(), verdict = m.verdict, warnings = coalesce(m.warnings, '{}'),
      status = m.status, answerheaders = m.answerheaders, remoteaddress = m.remoteaddress, timing = m.timing
    from judged m where a.handshake = m.handshake and a.number = m.number and a.finishedat is null
  ), moved as (
    update handshake h set state = 'granted', verdict = m.verdict, lease = null, leaseduntil = null, finishedat = now()
    -- Said so that it is looked up by its id, and not among all that are being asked.
    from judged m where h.id = m.handshake and h.lease = m.lease and h.state is not distinct from 'asking'
    returning h.id, h.tenant, h.subscription, h.verdict, m.place, m.recordedby, m.audit, m.grantaudit, m.auditsink
  ), live as (
    select g.* from put_consents(members, array(select id from moved)) g
  ), settled as materialized (
    select moved.*, g.id as "grant", g.origin, g.basis, g.allowedrate, g.warnings, g.expiresat, g.renewat,
      case when g.id is null then 'refused' else 'granted' end as state,
      case when g.id is null then 'revoked' else moved.verdict end as told
    from moved left join live g on g.handshake = moved.id
  ), recorded as (
    insert into audit (id, tenant, actor, action, target, detail)
    select grantaudit, tenant, recordedby, 'grant.live', 'grant:' || "grant", jsonb_build_object(
      'origin', origin, 'sink', auditsink, 'basis', basis,
      'allowedrate', case when allowedrate = '*' then to_jsonb(allowedrate) else to_jsonb(allowedrate::bigint) end,
      'expiresat', to_char(expiresat at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
    from settled where state = 'granted'
    union all
    select audit, tenant, recordedby, 'handshake.' || state,
      case when subscription is null then 'handshake:' || id else 'subscription:' || subscription end,
      jsonb_build_object('handshake', id, 'verdict', told)
    from settled
  ), answered as (
    select a.place, a.state, a.told as verdict, s.version, a.allowedrate, a.warnings, a.basis, a.expiresat, a.renewat
    from settled a left join subscription s on s.id = a.subscription
    union all
    select m.place, case when m.handshake not in (select handshake from judged) then 'origin_differs' end,
      null, null, null, null, null, null, null
    from unnest(members) m
    where (select count(*) from settled) < cardinality(members) and m.handshake not in (select id from settled)
  )
  select (select json_agg(answered) from answered), array_agg(id) filter (where state = 'granted'),
    array_agg(id) filter (where state = 'refused')
  into answers, granted, refused from settled;

  if refused is not null then
    update handshake h set state = 'refused', verdict = 'revoked' where h.id = any (refused);
  end if;
end
$$;

-- One batch: registrations and consents, and their changes, which go last as ever. Returns the answers of both functions, and the log of it.
drop function write_batch(jsonb, jsonb, uuid, float8, int, int, int, int, int, int, int);
create function write_batch(
  registrations jsonb, consents jsonb, holder uuid, leaseseconds float8, callbackseconds int, places int,
  perhost int, pertenant int, tenantperminute int, hostperminute int, domainperminute int
) returns json language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan as $$
declare
  registered record;
  settled record;
  log json;
  agreed constant consent[] := array(select c from jsonb_populate_recordset(null::consent, consents) c);
begin
  select * into registered from register_subscriptions(
    array(select r from jsonb_populate_recordset(null::registration, registrations) r), holder, leaseseconds,
    callbackseconds, places, perhost, pertenant, tenantperminute, hostperminute, domainperminute);
  select * into settled from settle_consents(agreed);
  select log_changes(array_agg(c.tenant), array_agg(c.origin), array_agg(c.kind), array_agg(c.sink), array_agg(c.id))
  into log from (
    select tenant, origin, 'subscription.created' as kind, sink, id from unnest(registered.created)
    union all
    select tenant, origin, 'grant.live', sink, null from unnest(agreed) where handshake = any (settled.granted)
  ) c
  having count(*) > 0;
  return json_build_object(
    'registered', coalesce(registered.answers, '[]'), 'settled', coalesce(settled.answers, '[]'), 'log', log);
end
$$;
