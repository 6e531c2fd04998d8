-- Writes that are hot go in batches: what comes while one is committed goes together in the next. Each function is one
-- statement, and so one transaction, that takes its members as JSON and answers for each of them: one round trip, one
-- commit and one notification for all. Locks are taken in the same order everywhere: idempotency keys, origins, pairs,
-- places in flight, budgets, handshakes, grants, the log; and among themselves in the order of their names. Plans are made
-- once for each connection, often while a table is still small or was never analysed: members are few, and always looked up.

-- Who is being asked: few rows, counted for every place that is given.
create index handshake_asking_idx on handshake (tenant, sinkhost) where state = 'asking';

-- Any state but revoked -> live, for several pairs that are all different. An agreement is an admin's word: it takes a
-- revoked grant too, and keeps its end beside another consent. A trickle by policy does not take the place of a consent.
-- Returns the grants that are live now; a consent whose grant is not among them changed nothing.
create function put_grants(consents jsonb) returns setof "grant" language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  return query insert into "grant" as present (origin, sink, id, tenant, state, basis, allowedorigin, allowedrate, requestedrate,
    warnings, handshake, reference, recordedby, grantedat, expiresat, renewat)
  select origin, sink, id, tenant, 'live', basis, allowedorigin, allowedrate, requestedrate,
    coalesce(warnings, '{}'), handshake, reference, recordedby, now(),
    coalesce(until, now() + make_interval(secs => leaseseconds)), now() + make_interval(secs => renewafter)
  from jsonb_to_recordset(consents) as c (
    origin text, sink text, id uuid, tenant text, basis text, allowedorigin text, allowedrate text, requestedrate int,
    warnings text[], handshake uuid, reference text, recordedby text, until timestamptz, leaseseconds int, renewafter int)
  order by origin collate "C", sink collate "C"
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

-- Which of these handshakes may be asked now: places in flight for its host and its tenant are free over all processes,
-- and the budgets of this minute have room, which is taken at once. Ranks are counted among all members, so a member may
-- be told to wait although there was room; never the other way round. Returns their ids.
create function admit_handshakes(
  members jsonb, perhost int, pertenant int, tenantperminute int, hostperminute int, domainperminute int
) returns uuid[] language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  moment bigint := floor(extract(epoch from clock_timestamp()) * 1000);
  admitted uuid[];
begin
  perform pg_advisory_xact_lock(7266112003);
  -- A window that is over begins anew; the rows are held until the commit.
  with used as (
    insert into budget as present (key, points, expire)
    select key, 0, moment + 60000 from (
      select 'tenant:' || tenant as key from jsonb_to_recordset(members) as m (tenant text)
      union select 'host:' || sinkhost from jsonb_to_recordset(members) as m (sinkhost text)
      union select 'domain:' || domain from jsonb_to_recordset(members) as m (domain text) where domain is not null
    ) keys order by key collate "C"
    on conflict (key) do update set
      points = case when present.expire is null or present.expire <= moment then 0 else present.points end,
      expire = case when present.expire is null or present.expire <= moment then excluded.expire else present.expire end
    returning key, points
  ), busy as (
    select tenant, sinkhost from handshake where state = 'asking' and leaseduntil > now()
  ), ranked as (
    select m.id, m.tenant, m.sinkhost, m.domain,
      row_number() over (partition by m.tenant order by m.place) as tenantrank,
      row_number() over (partition by m.sinkhost order by m.place) as hostrank,
      row_number() over (partition by m.domain order by m.place) as domainrank
    from jsonb_to_recordset(members) as m (place int, id uuid, tenant text, sinkhost text, domain text)
  ), tenants as (
    select t.tenant, least(
      pertenant - (select count(*) from busy where busy.tenant = t.tenant),
      tenantperminute - (select points from used where key = 'tenant:' || t.tenant)) as room
    from (select distinct tenant from ranked) t
  ), hosts as (
    select h.sinkhost, least(
      perhost - (select count(*) from busy where busy.sinkhost = h.sinkhost),
      hostperminute - (select points from used where key = 'host:' || h.sinkhost)) as room
    from (select distinct sinkhost from ranked) h
  ), domains as (
    select substr(key, 8) as domain, domainperminute - points as room from used where key like 'domain:%'
  )
  select array_agg(r.id) into admitted
  from ranked r
  join tenants t on t.tenant = r.tenant and r.tenantrank <= t.room
  join hosts h on h.sinkhost = r.sinkhost and r.hostrank <= h.room
  left join domains d on d.domain = r.domain
  where r.domain is null or r.domainrank <= d.room;

  update budget b set points = b.points + taken.points
  from (
    select key, count(*) as points from jsonb_to_recordset(members) as m (id uuid, tenant text, sinkhost text, domain text)
    cross join lateral (values ('tenant:' || tenant), ('host:' || sinkhost), ('domain:' || domain)) as keys (key)
    where m.id = any (admitted) and key is not null
    group by key
  ) taken
  where b.key = taken.key;
  return coalesce(admitted, '{}');
end
$$;

-- Subscriptions with the handshake that each calls for, and its audit entry. What is to be asked at once, and
-- may be, is born `asking` under the lease, with its first attempt recorded. Outcomes:
--   created         with whether there is a handshake, and whether it is asked now
--   replayed        the Idempotency-Key stood in the same request before; `resource` is what that one created
--   reused          the key stood in another request
--   origin_differs  the origin is not as the caller remembers it; nothing was written for this member
-- No two members have the same Idempotency-Key.
create function register_subscriptions(
  members jsonb, holder uuid, leaseseconds float8, callbackseconds int, places int,
  perhost int, pertenant int, tenantperminute int, hostperminute int, domainperminute int
) returns table (place int, outcome text, resource text, question boolean, asked boolean, at timestamptz)
language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
  keyed boolean := jsonb_path_exists(members, '$[*].key');
  claimed text[];
  accepted uuid[];
  asking uuid[] := '{}';
  questions uuid[];
begin
  if keyed then
    with inserted as (
      insert into idempotency (tenant, subscriber, key, operation, fingerprint, resource)
      select m.tenant, m.subscriber, m.key, m.operation, decode(m.fingerprint, 'hex'), m.id::text
      from jsonb_to_recordset(members)
        as m (id uuid, tenant text, subscriber text, key text, operation text, fingerprint text)
      where m.key is not null order by m.tenant collate "C", m.subscriber collate "C", m.key collate "C"
      on conflict do nothing returning idempotency.resource
    ) select array_agg(inserted.resource) into claimed from inserted;
  end if;

  -- An origin stays until the transaction ends.
  perform 1 from origin o where o.name in (select m.origin from jsonb_to_recordset(members) as m (origin text))
    order by o.name collate "C" for key share;
  select array_agg(m.id) into accepted
  from jsonb_to_recordset(members)
    as m (id uuid, tenant text, key text, origin text, originversion int, origincreatedat timestamptz)
  join origin o on o.name = m.origin and o.tenant = m.tenant and o.version = m.originversion
    and o.createdat = m.origincreatedat
  where m.key is null or m.id::text = any (claimed);
  if keyed then
    delete from idempotency i using jsonb_to_recordset(members) as m (id uuid, tenant text, subscriber text, key text)
    where i.tenant = m.tenant and i.subscriber = m.subscriber and i.key = m.key and i.resource = m.id::text
      and i.resource = any (claimed) and (accepted is null or m.id <> all (accepted));
  end if;

  if accepted is not null then
    -- As whoever else comes to a pair or leaves it.
    perform pg_advisory_xact_lock(hashtextextended(pair.name, 0)) from (
      select distinct (m.origin || ' ' || m.sink) collate "C" as name
      from jsonb_to_recordset(members) as m (id uuid, origin text, sink text)
      where m.id = any (accepted) order by 1
    ) pair;
    insert into subscription (id, tenant, subscriber, origin, sink, protocol, protocolsettings, source, types, subject,
      filters, config, sinkcredential, credentialtype, requestedrate)
    select m.id, m.tenant, m.subscriber, m.origin, m.sink, m.protocol, m.protocolsettings, m.source,
      coalesce(m.types, '{}'), m.subject, m.filters, m.config, m.sinkcredential, m.credentialtype, m.requestedrate
    from jsonb_to_recordset(members) as m (id uuid, tenant text, subscriber text, origin text, sink text, protocol text,
      protocolsettings jsonb, source text, types text[], subject text, filters jsonb, config jsonb, sinkcredential text,
      credentialtype text, requestedrate int)
    where m.id = any (accepted);

    -- Nothing that a webhook says would count where an admin revoked the grant of the pair.
    select array_agg(m.handshake) into questions
    from jsonb_to_recordset(members) as m (id uuid, handshake uuid, origin text, sink text)
    where m.id = any (accepted)
      and not exists (select 1 from "grant" g where g.origin = m.origin and g.sink = m.sink and g.state = 'revoked');
    if questions is not null and places > 0 then
      select admit_handshakes(jsonb_agg(jsonb_build_object('place', w.place, 'id', w.handshake, 'tenant', w.tenant,
        'sinkhost', w.sinkhost, 'domain', w.domain)), perhost, pertenant, tenantperminute, hostperminute, domainperminute)
      into asking
      from (
        select m.place, m.handshake, m.tenant, m.sinkhost, m.domain
        from jsonb_to_recordset(members)
          as m (place int, handshake uuid, tenant text, sinkhost text, domain text, atonce boolean)
        where m.atonce and m.handshake = any (questions) order by m.place limit places
      ) w
      having count(*) > 0;
      asking := coalesce(asking, '{}');
    end if;
    insert into handshake (id, tenant, origin, sink, sinkhost, subscription, generation, reason, startedby, requestedrate,
      state, dueat, attempts, lease, leaseduntil)
    select m.handshake, m.tenant, m.origin, m.sink, m.sinkhost, m.id, 1, 'registration', m.actor, m.askedrate,
      case when m.handshake = any (asking) then 'asking' else 'due' end,
      -- A column of milliseconds would round up.
      date_trunc('milliseconds', now()),
      case when m.handshake = any (asking) then 1 else 0 end,
      case when m.handshake = any (asking) then holder end,
      case when m.handshake = any (asking) then now() + make_interval(secs => leaseseconds) end
    from jsonb_to_recordset(members) as m (id uuid, handshake uuid, tenant text, origin text, sink text, sinkhost text,
      actor text, askedrate int)
    where m.handshake = any (questions);
    insert into attempt (handshake, number, requestheaders, callbackkeyhash, callbackexpiresat)
    select m.handshake, 1, m.requestheaders, decode(m.callbackkeyhash, 'hex'),
      case when m.callbackkeyhash is not null then now() + make_interval(secs => callbackseconds) end
    from jsonb_to_recordset(members) as m (handshake uuid, requestheaders jsonb, callbackkeyhash text)
    where m.handshake = any (asking);

    insert into audit (id, tenant, actor, action, target, detail, requestid)
    select m.audit, m.tenant, m.actor, 'subscription.created', 'subscription:' || m.id, m.auditdetail, m.requestid
    from jsonb_to_recordset(members)
      as m (id uuid, audit uuid, tenant text, actor text, auditdetail jsonb, requestid text)
    where m.id = any (accepted);
  end if;

  return query select m.place,
    case
      when m.id = any (accepted) then 'created'
      when i.resource is null then 'origin_differs'
      when i.operation = m.operation and i.fingerprint = decode(m.fingerprint, 'hex') then 'replayed'
      else 'reused'
    end,
    i.resource, coalesce(m.handshake = any (questions), false), m.handshake = any (asking), now()::timestamptz(3)
  from jsonb_to_recordset(members) as m (place int, id uuid, handshake uuid, tenant text, subscriber text, key text,
    operation text, fingerprint text)
  left join idempotency i on i.tenant = m.tenant and i.subscriber = m.subscriber and i.key = m.key;
end
$$;

-- asking -> granted, or refused where the grant is revoked, for handshakes whose webhook agreed; with the attempt, the
-- grant and the audit entries. A null state means that the handshake was not the caller's to move any more.
-- `origin_differs` means that nothing was written, because the origin is not as the answer was judged by. With what was
-- granted comes how it stands now, and the version of the subscription, so that nobody need read it again.
-- No two members have the same pair; who else holds several handshakes holds those of one pair.
create function settle_consents(members jsonb) returns table (
  place int, state text, verdict text, version int, allowedrate text, warnings text[], basis text, expiresat timestamptz,
  renewat timestamptz
) language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
  judged uuid[];
  moved uuid[];
  granted uuid[];
begin
  select array_agg(m.handshake) into judged
  from jsonb_to_recordset(members)
    as m (handshake uuid, tenant text, origin text, originversion int, origincreatedat timestamptz)
  join origin o on o.name = m.origin and o.tenant = m.tenant and o.version = m.originversion
    and o.createdat = m.origincreatedat;

  -- Kept whoever the handshake belongs to by now: it happened.
  update attempt a set finishedat = now(), verdict = m.verdict, warnings = coalesce(m.warnings, '{}'), status = m.status,
    answerheaders = m.answerheaders, remoteaddress = m.remoteaddress, timing = m.timing
  from jsonb_to_recordset(members) as m (handshake uuid, number int, verdict text, warnings text[], status int,
    answerheaders jsonb, remoteaddress text, timing jsonb)
  where m.handshake = any (judged) and a.handshake = m.handshake and a.number = m.number and a.finishedat is null;
  with changed as (
    update handshake h set state = 'granted', verdict = m.verdict, lease = null, leaseduntil = null, finishedat = now()
    from jsonb_to_recordset(members) as m (handshake uuid, lease uuid, verdict text)
    where m.handshake = any (judged) and h.id = m.handshake and h.lease = m.lease and h.state = 'asking'
    returning h.id
  ) select array_agg(id) into moved from changed;

  if moved is not null then
    with live as (
      select g.* from put_grants((
        select case when cardinality(moved) = jsonb_array_length(members) then members else (
          select jsonb_agg(m.value) from jsonb_array_elements(members) as m
          where (m.value ->> 'handshake')::uuid = any (moved)
        ) end
      )) g
    ), told as (
      insert into audit (id, tenant, actor, action, target, detail)
      select m.grantaudit, g.tenant, g.recordedby, 'grant.live', 'grant:' || g.id, jsonb_build_object(
        'origin', g.origin, 'sink', m.auditsink, 'basis', g.basis,
        'allowedrate', case when g.allowedrate = '*' then to_jsonb(g.allowedrate) else to_jsonb(g.allowedrate::bigint) end,
        'expiresat', to_char(g.expiresat at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
      from live g join jsonb_to_recordset(members) as m (handshake uuid, grantaudit uuid, auditsink text)
        on m.handshake = g.handshake
    ) select array_agg(g.handshake) into granted from live g;
    update handshake h set state = 'refused', verdict = 'revoked'
    where h.id = any (moved) and (granted is null or h.id <> all (granted));
    insert into audit (id, tenant, actor, action, target, detail)
    select m.audit, h.tenant, m.recordedby, 'handshake.' || h.state,
      case when h.subscription is null then 'handshake:' || h.id else 'subscription:' || h.subscription end,
      jsonb_build_object('handshake', h.id, 'verdict', h.verdict)
    from handshake h join jsonb_to_recordset(members) as m (handshake uuid, audit uuid, recordedby text)
      on m.handshake = h.id
    where h.id = any (moved);
  end if;

  return query select m.place,
    case when m.handshake = any (judged) then h.state else 'origin_differs' end, h.verdict,
    s.version, g.allowedrate, g.warnings, g.basis, g.expiresat, g.renewat
  from jsonb_to_recordset(members) as m (place int, handshake uuid)
  left join handshake h on h.id = m.handshake and h.id = any (moved)
  left join "grant" g on h.state = 'granted' and g.origin = h.origin and g.sink = h.sink
  left join subscription s on s.id = h.subscription;
end
$$;

-- One batch: registrations and consents, and their changes, which go last as ever. Returns the rows of both functions.
create function write_batch(
  registrations jsonb, consents jsonb, holder uuid, leaseseconds float8, callbackseconds int, places int,
  perhost int, pertenant int, tenantperminute int, hostperminute int, domainperminute int
) returns jsonb language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  registered jsonb := '[]';
  settled jsonb := '[]';
begin
  if registrations <> '[]' then
    select jsonb_agg(to_jsonb(r)) into registered from register_subscriptions(registrations, holder, leaseseconds,
      callbackseconds, places, perhost, pertenant, tenantperminute, hostperminute, domainperminute) r;
  end if;
  if consents <> '[]' then
    select jsonb_agg(to_jsonb(s)) into settled from settle_consents(consents) s;
  end if;
  perform append_changes(array_agg(c.tenant), array_agg(c.origin), array_agg(c.kind), array_agg(c.sink), array_agg(c.id))
  from (
    select m.tenant, m.origin, 'subscription.created' as kind, m.sink, m.id
    from jsonb_to_recordset(registrations) as m (place int, id uuid, tenant text, origin text, sink text)
    join jsonb_to_recordset(registered) as r (place int, outcome text) on r.place = m.place and r.outcome = 'created'
    union all
    select m.tenant, m.origin, 'grant.live', m.sink, null
    from jsonb_to_recordset(consents) as m (place int, tenant text, origin text, sink text)
    join jsonb_to_recordset(settled) as s (place int, state text) on s.place = m.place and s.state = 'granted'
  ) c
  having count(*) > 0;
  return jsonb_build_object('registered', registered, 'settled', settled);
end
$$;
