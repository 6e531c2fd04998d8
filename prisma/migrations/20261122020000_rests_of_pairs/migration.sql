-- Until when a webhook is not asked again, by its latest answer to a handshake: src/handshake/rest.ts. They are few.
create table rest (
  tenant text not null,
  origin text not null,
  sink text not null,
  until timestamptz(3) not null,
  constraint rest_pkey primary key (tenant, origin, sink)
);

-- As before, but a webhook that rests is not asked before it is over.
create or replace function register_subscriptions(
  members registration[], holder uuid, leaseseconds float8, callbackseconds int, places int,
  perhost int, pertenant int, tenantperminute int, hostperminute int, domainperminute int,
  out created registration[], out answers json
) language plpgsql as $$
declare
  keyed boolean := exists (select 1 from unnest(members) m where m.key is not null);
  claimed uuid[];
  accepted uuid[];
  questions uuid[];
  awake uuid[];
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
    select array_agg(m.handshake), array_agg(m.handshake) filter (where r.until is null) into questions, awake
    from unnest(created) m
    left join rest r on r.tenant = m.tenant and r.origin = m.origin and r.sink = m.sink and r.until > now()
    where not exists (select 1 from "grant" g where g.origin = m.origin and g.sink = m.sink and g.state = 'revoked');
    if awake is not null and places > 0 then
      select admit_handshakes(array_agg(m), perhost, pertenant, tenantperminute, hostperminute, domainperminute) into asking
      from (
        select m from unnest(created) m where m.atonce and m.handshake = any (awake) order by m.place limit places
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
        case when m.asked then 'asking' else 'due' end,
        case when m.handshake = any (awake) then date_trunc('milliseconds', now()) else greatest(
          date_trunc('milliseconds', now()),
          (select r.until from rest r where r.tenant = m.tenant and r.origin = m.origin and r.sink = m.sink)) end,
        case when m.asked then 1 else 0 end,
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

-- As before, but an answer ends the rest that an earlier one asked for.
create or replace function settle_consents(members consent[], out granted uuid[], out answers json) language plpgsql as $$
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

  -- Whatever rest they asked for before is over. Who writes a rest holds a handshake meanwhile: nobody waits for that here.
  delete from rest where (tenant, origin, sink) in (
    select r.tenant, r.origin, r.sink from unnest(members) m
    join rest r on r.tenant = m.tenant and r.origin = m.origin and r.sink = m.sink
    for update of r skip locked);

  if refused is not null then
    update handshake h set state = 'refused', verdict = 'revoked' where h.id = any (refused);
  end if;
end
$$;
