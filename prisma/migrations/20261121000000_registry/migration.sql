create table origin (
  name text not null,
  tenant text not null,
  isdefault boolean not null default false,
  requestedrate integer,
  defaultrate text not null,
  judgement text not null,
  unsupportedrate integer,
  leaseseconds integer not null,
  profile text not null,
  version integer not null default 1,
  createdat timestamptz(3) not null default current_timestamp,
  updatedat timestamptz(3) not null default current_timestamp,
  constraint origin_pkey primary key (name),
  constraint origin_requestedrate_check check (requestedrate > 0),
  constraint origin_defaultrate_check check (defaultrate = '*' or defaultrate ~ '^[1-9][0-9]{0,14}$'),
  constraint origin_judgement_check check (judgement in ('strict', 'lenient')),
  constraint origin_unsupportedrate_check check (unsupportedrate > 0),
  constraint origin_leaseseconds_check check (leaseseconds > 0)
);
create index origin_tenant_name_idx on origin (tenant, name);
-- At most one default origin for a tenant.
create unique index origin_default_key on origin (tenant) where isdefault;

create table subscription (
  id uuid not null,
  tenant text not null,
  subscriber text not null,
  origin text not null,
  sink text not null,
  protocol text not null,
  protocolsettings jsonb,
  source text,
  types text[],
  subject text,
  filters jsonb,
  config jsonb,
  sinkcredential text,
  credentialtype text,
  requestedrate integer,
  generation integer not null default 1,
  version integer not null default 1,
  suspendedat timestamptz(3),
  suspendedby text,
  suspendreason text,
  createdat timestamptz(3) not null default current_timestamp,
  updatedat timestamptz(3) not null default current_timestamp,
  constraint subscription_pkey primary key (id),
  constraint subscription_requestedrate_check check (requestedrate > 0),
  constraint subscription_suspendedby_check check (suspendedby in ('subscriber', 'admin')),
  constraint subscription_origin_fkey foreign key (origin) references origin (name) on delete restrict on update restrict
);
create index subscription_tenant_id_idx on subscription (tenant, id);
create index subscription_origin_sink_idx on subscription (origin, sink);

create table handshake (
  id uuid not null,
  tenant text not null,
  origin text not null,
  sink text not null,
  sinkhost text not null,
  subscription uuid,
  generation integer,
  reason text not null,
  startedby text not null,
  requestedrate integer,
  state text not null,
  verdict text,
  attempts integer not null default 0,
  dueat timestamptz(3),
  lease uuid,
  leaseduntil timestamptz(3),
  waitinguntil timestamptz(3),
  callbackopen boolean not null default true,
  createdat timestamptz(3) not null default current_timestamp,
  finishedat timestamptz(3),
  constraint handshake_pkey primary key (id),
  constraint handshake_reason_check check (reason in ('registration', 'change', 'request', 'renewal')),
  constraint handshake_state_check
    check (state in ('due', 'asking', 'waiting', 'granted', 'refused', 'unreachable', 'retired', 'cancelled'))
);
create index handshake_subscription_id_idx on handshake (subscription, id);
create index handshake_origin_sink_id_idx on handshake (origin, sink, id);
create index handshake_open_idx on handshake (dueat) where state in ('due', 'asking', 'waiting');
-- Nobody is asked twice at the same time: one open question for a subscription, one open renewal for a pair.
create unique index handshake_subscription_open_key on handshake (subscription) where state in ('due', 'asking');
create unique index handshake_renewal_open_key on handshake (origin, sink)
  where reason = 'renewal' and state in ('due', 'asking', 'waiting');

create table attempt (
  handshake uuid not null,
  number integer not null,
  callbackkeyhash bytea,
  callbackexpiresat timestamptz(3),
  requestheaders jsonb not null,
  startedat timestamptz(3) not null default current_timestamp,
  finishedat timestamptz(3),
  verdict text,
  warnings text[],
  status integer,
  answerheaders jsonb,
  remoteaddress text,
  timing jsonb,
  constraint attempt_pkey primary key (handshake, number),
  constraint attempt_handshake_fkey foreign key (handshake) references handshake (id) on delete cascade on update restrict
);

create table "grant" (
  origin text not null,
  sink text not null,
  id uuid not null,
  tenant text not null,
  state text not null,
  endreason text,
  basis text not null,
  allowedorigin text,
  allowedrate text not null,
  requestedrate integer,
  warnings text[],
  handshake uuid,
  reference text,
  recordedby text not null,
  grantedat timestamptz(3) not null,
  expiresat timestamptz(3) not null,
  renewat timestamptz(3),
  endedat timestamptz(3),
  endedby text,
  version integer not null default 1,
  constraint grant_pkey primary key (origin, sink),
  constraint grant_state_check check (state in ('live', 'ended', 'revoked')),
  constraint grant_basis_check check (basis in ('response', 'callback', 'agreement', 'policy')),
  constraint grant_allowedrate_check check (allowedrate = '*' or allowedrate ~ '^[1-9][0-9]{0,14}$')
);
create unique index grant_id_key on "grant" (id);
create index grant_tenant_id_idx on "grant" (tenant, id);
create index grant_renewat_idx on "grant" (renewat) where state = 'live';

create table change (
  position bigserial not null,
  at timestamptz(3) not null default current_timestamp,
  tenant text not null,
  origin text not null,
  kind text not null,
  sink text not null,
  subscription uuid,
  constraint change_pkey primary key (position)
);

create table audit (
  id uuid not null,
  at timestamptz(3) not null default current_timestamp,
  tenant text not null,
  actor text not null,
  action text not null,
  target text not null,
  detail jsonb,
  requestid text,
  constraint audit_pkey primary key (id)
);
create index audit_tenant_id_idx on audit (tenant, id);

create table idempotency (
  tenant text not null,
  subscriber text not null,
  key text not null,
  operation text not null,
  fingerprint bytea not null,
  resource text not null,
  createdat timestamptz(3) not null default current_timestamp,
  constraint idempotency_pkey primary key (tenant, subscriber, key)
);

create table budget (
  key varchar(255) not null,
  points integer not null default 0,
  expire bigint,
  constraint budget_pkey primary key (key)
);

-- Where a subscription stands, derived from its own state, the grant of its pair and its latest handshake.
-- A renewal belongs to the pair, not to one subscription, and counts for all of them.
create view subscriptionstatus as
select
  s.id,
  h.id as handshake,
  h.state as handshakestate,
  h.reason as handshakereason,
  h.verdict,
  h.attempts,
  h.dueat,
  h.waitinguntil,
  a.answerheaders,
  g.state as grantstate,
  g.endreason as grantendreason,
  g.basis,
  g.allowedrate,
  g.warnings,
  g.expiresat,
  g.renewat,
  case
    when s.suspendedat is not null then 'suspended'
    when g.state = 'live' and g.expiresat > now() then 'active'
    when g.state = 'revoked' then 'refused'
    when h.state in ('due', 'asking', 'waiting') then 'pending'
    when g.state = 'live' and (h.state = 'granted' or h.reason = 'renewal' or h.state is null) then 'expired'
    when h.state in ('refused', 'unreachable', 'retired') then h.state
    else 'expired'
  end as status
from subscription s
left join "grant" g on g.origin = s.origin and g.sink = s.sink
left join lateral (
  select * from (
    (select * from handshake own
      where own.subscription = s.id and own.state <> 'cancelled'
      order by own.createdat desc, own.id desc limit 1)
    union all
    (select * from handshake renewal
      where renewal.origin = s.origin and renewal.sink = s.sink and renewal.reason = 'renewal' and renewal.state <> 'cancelled'
        and renewal.createdat >= s.createdat
      order by renewal.createdat desc, renewal.id desc limit 1)
  ) latest
  order by createdat desc, id desc limit 1
) h on true
left join attempt a on a.handshake = h.id and a.number = h.attempts;
