-- The registry as it is: 1 Tables, 2 Views, 3 Functions. What a row means, and who moves it between its states, is said in
-- src/, where the statements are. Everything is created in the first schema of the session's search_path. A function
-- that indexes use is first.

-- The host of a sink, with the brackets of an IPv6 address. Sinks are canonical, so it is in lower case. Indexes use it.
create function sink_host(sink text) returns text language sql immutable parallel safe as $$
  select case when substr(sink, 9, 1) = '[' then substr(split_part(sink, ']', 1), 9) || ']'
    else split_part(split_part(substr(sink, 9), '/', 1), ':', 1) end
$$;

-- 1 Tables ----------------------------------------------------------------------------------------------------------

-- A sending system. Its name is the value of WebHook-Request-Origin, in lower case.
create table origin (
  name text not null,
  tenant text not null,
  -- For consumers who choose an origin.
  description text,
  isdefault boolean not null default false,
  -- Notices about subscriptions come from it. Null: they don't.
  notices boolean,
  requestedrate integer,
  defaultrate text not null,
  -- Requests that leases give out at once after a pause; null is four seconds of the rate.
  burst integer,
  judgement text not null,
  callback text not null,
  unsupportedrate integer,
  grantseconds integer not null,
  profile text not null,
  -- How often a webhook answers a delivery with 410 Gone before it counts as retired.
  goneafter integer not null default 1,
  -- Who may subscribe to what, as the API has it. Null: anyone of the tenant, to anything.
  subscriptionrules jsonb,
  -- How what it sends is signed: Signature-Agent as a dictionary or as a string, or no signature.
  signatures text not null default 'dictionary',
  -- Under this id anybody may read its public keys; its name says nothing to other tenants.
  directory uuid not null default gen_random_uuid(),
  -- How its tenant proved that the name is its own, with which key, and since when; null: it has not, or no longer. The latest
  -- check that found the proof. Registrations wait for it if the origin must have it (src/registry/origins/domain-proof.ts).
  verifiedby text,
  verifiedkey text,
  verifiedat timestamptz(3),
  provedat timestamptz(3),
  mustverify boolean not null default false,
  -- Verifiers find its keys in the directory at its name, as the check that proved it saw.
  serveskeys boolean not null default false,
  -- The latest check, what it found if that was no proof, how many daily ones in a row said no, and when the next one is due.
  checkedat timestamptz(3),
  checkresult jsonb,
  checkrefusals integer not null default 0,
  checkdueat timestamptz(3),
  version integer not null default 1,
  createdat timestamptz(3) not null default current_timestamp,
  updatedat timestamptz(3) not null default current_timestamp,
  constraint origin_pkey primary key (name),
  constraint origin_requestedrate_check check (requestedrate > 0),
  constraint origin_defaultrate_check check (defaultrate = '*' or defaultrate ~ '^[1-9][0-9]{0,14}$'),
  constraint origin_burst_check check (burst > 0),
  constraint origin_judgement_check check (judgement in ('strict', 'lenient')),
  constraint origin_callback_check check (callback in ('offer', 'never')),
  constraint origin_signatures_check check (signatures in ('off', 'string', 'dictionary')),
  constraint origin_verifiedby_check check (verifiedby in ('directory', 'dns')),
  constraint origin_unsupportedrate_check check (unsupportedrate > 0),
  constraint origin_grantseconds_check check (grantseconds > 0),
  constraint origin_goneafter_check check (goneafter > 0),
  constraint origin_subscriptionrules_check check (jsonb_typeof(subscriptionrules) = 'array')
);
create index origin_tenant_name_idx on origin (tenant, name);
-- At most one default origin for a tenant.
create unique index origin_default_key on origin (tenant) where isdefault;
create unique index origin_directory_key on origin (directory);
create index origin_checkdueat_idx on origin (checkdueat) where checkdueat is not null;

-- What signs the requests of an origin (src/registry/origins/keys.ts). Of a key that the registry made, the private part is
-- sealed; of one that its tenant brought, only the public part is known; of a set, the address and what was read there.
create table origin_key (
  id uuid not null,
  origin text not null,
  tenant text not null,
  kind text not null,
  -- A JWK with its thumbprint as `kid`. Null for a set.
  publickey jsonb,
  privatekey text,
  jwksuri text,
  -- The public keys that were read there, as an array, when, why the latest reading failed, and when the next is due.
  jwks jsonb,
  readat timestamptz(3),
  readcode text,
  readdueat timestamptz(3),
  -- It signs from then on, and verifiers find it until it ends.
  startsat timestamptz(3) not null,
  endsat timestamptz(3),
  revokedat timestamptz(3),
  -- When the feed has to say that it started or ended; null if it has said all.
  changedueat timestamptz(3),
  createdat timestamptz(3) not null default current_timestamp,
  createdby text not null,
  createdbyperson jsonb,
  constraint origin_key_pkey primary key (id),
  constraint origin_key_kind_check check (kind in ('made', 'brought', 'jwks')),
  constraint origin_key_origin_fkey foreign key (origin) references origin (name) on delete cascade on update restrict
);
create index origin_key_origin_idx on origin_key (origin);
create index origin_key_readdueat_idx on origin_key (readdueat) where readdueat is not null;
create index origin_key_changedueat_idx on origin_key (changedueat) where changedueat is not null;

-- What an origin shows in TLS to webhooks that ask for it: the certificate with its chain, and its key, which is sealed.
create table client_certificate (
  id uuid not null,
  origin text not null,
  tenant text not null,
  certificate text not null,
  privatekey text not null,
  fingerprint text not null,
  startsat timestamptz(3) not null,
  endsat timestamptz(3) not null,
  createdat timestamptz(3) not null default current_timestamp,
  createdby text not null,
  createdbyperson jsonb,
  constraint client_certificate_pkey primary key (id),
  constraint client_certificate_origin_fkey foreign key (origin) references origin (name) on delete cascade on update restrict
);
create unique index client_certificate_origin_key on client_certificate (origin);
create index client_certificate_endsat_idx on client_certificate (endsat);

-- What signs grants (src/registry/grants/registry-keys.ts). The private part is sealed, and deleted when the next key signs.
create table registry_key (
  id uuid not null,
  -- A JWK with its thumbprint as `kid`.
  publickey jsonb not null,
  privatekey text,
  createdat timestamptz(3) not null default current_timestamp,
  constraint registry_key_pkey primary key (id)
);

-- What a consumer asked for.
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
  -- What the filters cost (src/matching/filters/price.ts).
  price integer not null default 0,
  config jsonb,
  sinkcredential text,
  -- Its metadata: type, when it was set and ends, fingerprint.
  credentialinfo jsonb,
  -- The one before it, which senders may use until then.
  previouscredential text,
  previousinfo jsonb,
  previousuntil timestamptz(3),
  -- What senders sign its deliveries with (Standard Webhooks), sealed, with its metadata; and the one before it, until then.
  signingsecret text,
  signingsecretinfo jsonb,
  previoussigningsecret text,
  previoussigninginfo jsonb,
  previoussigninguntil timestamptz(3),
  requestedrate integer,
  callback text,
  generation integer not null default 1,
  version integer not null default 1,
  suspendedat timestamptz(3),
  suspendedby text,
  -- Who did it through the client, if a person did: id and name.
  suspendedbyperson jsonb,
  -- Null if it was registered as suspended.
  suspendreason text,
  -- The end that the consumer named, and when the end was recorded (src/registry/subscriptions/retention.ts).
  endsat timestamptz(3),
  endedat timestamptz(3),
  createdat timestamptz(3) not null default current_timestamp,
  updatedat timestamptz(3) not null default current_timestamp,
  constraint subscription_pkey primary key (id),
  constraint subscription_requestedrate_check check (requestedrate > 0),
  constraint subscription_callback_check check (callback in ('offer', 'never')),
  constraint subscription_suspendedby_check check (suspendedby in ('subscriber', 'admin')),
  constraint subscription_origin_fkey foreign key (origin) references origin (name) on delete restrict on update restrict
);
create index subscription_tenant_id_idx on subscription (tenant, id);
-- A subscriber lists its own few, however many the other subscribers of its tenant have.
create index subscription_tenant_subscriber_id_idx on subscription (tenant, subscriber, id);
-- The few of a pair that have not ended are found, however many have.
create index subscription_origin_sink_endedat_idx on subscription (origin, sink, endedat);
-- Searches (src/registry/storage/search.ts): each index gives ids in their order.
create index subscription_tenant_host_id_idx on subscription (tenant, sink_host(sink), id);
create index subscription_suspended_idx on subscription (tenant, id) where suspendedat is not null;
-- Few have a price.
create index subscription_price_idx on subscription (tenant, subscriber) where price > 0;
create index subscription_previousuntil_idx on subscription (previousuntil) where previousuntil is not null;
create index subscription_previoussigninguntil_idx on subscription (previoussigninguntil) where previoussigninguntil is not null;
-- Those with a secret, for those who count secrets and encrypt them again.
create index subscription_secret_idx on subscription (id)
  where sinkcredential is not null or previouscredential is not null or signingsecret is not null or previoussigningsecret is not null;
create index subscription_endsat_idx on subscription (endsat) where endsat is not null and endedat is null;
-- Lists by end. Few subscriptions have one.
create index subscription_tenant_endsat_idx on subscription (tenant, endsat, id) where endsat is not null;
create index subscription_endedat_idx on subscription (endedat) where endedat is not null;

-- One conversation with one sink for one origin; its row is the queue as well (src/consent/handshake.ts).
create table handshake (
  id uuid not null,
  tenant text not null,
  origin text not null,
  sink text not null,
  sinkhost text not null,
  subscription uuid,
  generation integer,
  trigger text not null,
  startedby text not null,
  requestedrate integer,
  -- Of the request that asked for it (W3C Trace Context); sent along.
  traceparent text,
  state text not null,
  verdict text,
  attempts integer not null default 0,
  dueat timestamptz(3),
  claimid uuid,
  claimeduntil timestamptz(3),
  waitinguntil timestamptz(3),
  callbackopen boolean not null default true,
  -- A later handshake of its subscription has ended since: this one says nothing about the subscription any more.
  superseded boolean not null default false,
  -- The latest call of its callback URL that granted nothing (src/registry/handshake/callback.ts).
  rejectedcallback jsonb,
  createdat timestamptz(3) not null default current_timestamp,
  finishedat timestamptz(3),
  constraint handshake_pkey primary key (id),
  constraint handshake_trigger_check check (trigger in ('registration', 'change', 'request', 'renewal')),
  constraint handshake_state_check
    check (state in ('due', 'asking', 'waiting', 'granted', 'refused', 'unreachable', 'retired', 'cancelled'))
);
create index handshake_subscription_id_idx on handshake (subscription, id);
create index handshake_origin_sink_id_idx on handshake (origin, sink, id);
-- Searches, and those of subscriptions by why they are not active.
create index handshake_tenant_id_idx on handshake (tenant, id);
create index handshake_tenant_sinkhost_id_idx on handshake (tenant, sinkhost, id);
create index handshake_state_idx on handshake (tenant, state, id) where state not in ('granted', 'cancelled');
create index handshake_verdict_idx on handshake (tenant, verdict, id)
  where verdict not in ('granted', 'granted_any_origin', 'callback_granted', 'granted_by_policy');
-- For a summary: failures that may still count, and what open handshakes met.
create index handshake_failed_idx on handshake (tenant, state, id)
  where state in ('refused', 'unreachable', 'retired') and not superseded;
create index handshake_answered_idx on handshake (tenant, trigger, id)
  where state in ('due', 'asking', 'waiting') and verdict <> 'held_by_budget';
-- A lane, from its oldest handshake. Those without a time are parked (src/registry/handshake/lane.ts).
create index handshake_due_idx on handshake (tenant, sinkhost, dueat, id) where state = 'due';
create index handshake_parked_idx on handshake (id) where state = 'due' and dueat is null;
-- The renewals that a tenant has in the queue (src/registry/handshake/renew.ts).
create index handshake_renewing_idx on handshake (tenant, dueat, sinkhost) where state = 'due' and trigger = 'renewal';
create index handshake_waiting_idx on handshake (waitinguntil) where state = 'waiting';
-- Who is being asked: few rows, counted for every place that is given.
create index handshake_asking_idx on handshake (tenant, sinkhost) where state = 'asking';
-- Nobody is asked twice at the same time: one open question for a subscription, one open renewal for a pair.
create unique index handshake_subscription_open_key on handshake (subscription) where state in ('due', 'asking');
create unique index handshake_renewal_open_key on handshake (origin, sink)
  where trigger = 'renewal' and state in ('due', 'asking', 'waiting');

-- The due handshakes of one tenant for one host wait in a lane; `nextat` is when it is the lane's turn. Until `helduntil`, a
-- budget of the host or its domain is used up. Every due handshake that is not parked has a lane
-- (src/registry/handshake/lane.ts).
create table handshake_lane (
  tenant text not null,
  sinkhost text not null,
  nextat timestamptz(3) not null,
  helduntil timestamptz(3),
  constraint handshake_lane_pkey primary key (tenant, sinkhost)
) with (fillfactor = 50);
create index handshake_lane_turn_idx on handshake_lane (tenant, nextat, sinkhost);

-- One OPTIONS request. Every attempt is written twice: room for the second time beside the first.
create table attempt (
  handshake uuid not null,
  number integer not null,
  callbackkeyhash bytea,
  callbackexpiresat timestamptz(3),
  requestheaders jsonb not null,
  startedat timestamptz(3) not null default current_timestamp,
  finishedat timestamptz(3),
  verdict text,
  evidence text,
  tolerated text[],
  statuscode integer,
  responseheaders jsonb,
  address text,
  timing jsonb,
  constraint attempt_pkey primary key (handshake, number),
  constraint attempt_handshake_fkey foreign key (handshake) references handshake (id) on delete cascade on update restrict
) with (fillfactor = 50);

-- Until when a webhook is not asked again, by its latest answer to a handshake (src/registry/handshake/cooldown.ts).
create table cooldown (
  tenant text not null,
  origin text not null,
  sink text not null,
  until timestamptz(3) not null,
  constraint cooldown_pkey primary key (tenant, origin, sink)
);

-- How many handshakes a tenant, host, domain or network got lately, by slices of time; of no use after `until`. Until
-- `fulluntil`, it gets no more (src/registry/handshake/rate-window.ts).
create table rate_window (
  key text not null,
  taken jsonb not null,
  until timestamptz(3) not null,
  fulluntil timestamptz(3),
  constraint rate_window_pkey primary key (key)
) with (fillfactor = 50);

-- The fact that an origin may send to a sink, how fast, until when, and on what basis (src/consent/grant.ts).
create table "grant" (
  origin text not null,
  sink text not null,
  id uuid not null,
  tenant text not null,
  state text not null,
  -- Why it is over, as a code; and what the admin who revoked it wrote.
  endcode text,
  endreason text,
  basis text not null,
  allowedorigin text,
  allowedrate text not null,
  requestedrate integer,
  tolerated text[],
  handshake uuid,
  agreement text,
  recordedby text not null,
  recordedbyperson jsonb,
  grantedat timestamptz(3) not null,
  expiresat timestamptz(3) not null,
  renewat timestamptz(3),
  endedat timestamptz(3),
  endedby text,
  endedbyperson jsonb,
  version integer not null default 1,
  -- A webhook that asked senders to wait (429 with Retry-After) gets it from all of them.
  helduntil timestamptz(3),
  -- Of the webhook, when it was last asked for this consent. Blocks on networks compare with it.
  address text,
  -- When its next change by time alone is due: that it expires soon, then that it has (src/registry/handshake/sweep.ts).
  noteat timestamptz(3),
  constraint grant_pkey primary key (origin, sink),
  constraint grant_state_check check (state in ('live', 'ended', 'revoked')),
  constraint grant_endcode_check check ((state = 'live') = (endcode is null)),
  constraint grant_basis_check check (basis in ('response', 'callback', 'agreement', 'policy')),
  constraint grant_allowedrate_check check (allowedrate = '*' or allowedrate ~ '^[1-9][0-9]{0,14}$')
);
create unique index grant_id_key on "grant" (id);
create index grant_tenant_id_idx on "grant" (tenant, id);
-- Searches. Most grants are live, by a response.
create index grant_tenant_host_id_idx on "grant" (tenant, sink_host(sink), id);
create index grant_tenant_expiresat_id_idx on "grant" (tenant, expiresat, id);
create index grant_over_idx on "grant" (tenant, state, id) where state <> 'live';
-- What ends without a renewal, and what is on hold: few.
create index grant_final_idx on "grant" (tenant, expiresat, id) where state = 'live' and renewat is null;
create index grant_held_idx on "grant" (tenant, helduntil) where helduntil is not null;
create index grant_gone_idx on "grant" (tenant, id) where state = 'ended' and endcode = 'target_gone';
create index grant_basis_idx on "grant" (tenant, basis, id) where basis <> 'response';
-- The first to be renewed of each tenant.
create index grant_renewat_idx on "grant" (tenant, renewat) where state = 'live' and renewat is not null;
create index grant_noteat_idx on "grant" (noteat) where state = 'live';

-- The ordered log of what became different for delivery systems. Positions become visible in their order, because
-- append_changes alone writes here, under a lock.
create table change (
  position bigserial not null,
  at timestamptz(3) not null default current_timestamp,
  tenant text not null,
  origin text not null,
  kind text not null,
  sink text not null,
  subscription uuid,
  -- The thing that the change is about, as it is now; null where it is gone.
  resource jsonb,
  -- Why: the verdict of a handshake, or why a grant ended.
  cause text,
  -- Whose subscriptions it is about; null for a change of an origin or a block.
  subscribers text[],
  -- Of a block, which belongs to no origin. If it is one of every tenant, the tenant is '*'.
  block uuid,
  constraint change_pkey primary key (position)
);
create index change_tenant_position_idx on change (tenant, position);
-- With the tenant, although an origin has only one: otherwise Postgres may read all changes of the tenant for the few of an
-- origin.
create index change_tenant_origin_position_idx on change (tenant, origin, position);

-- One row: which history the positions belong to, what protects cursors, and up to where the log was forgotten.
create table feed_state (
  id boolean not null default true,
  epoch uuid not null,
  cluster text not null,
  secret bytea not null,
  horizon bigint not null,
  constraint feed_state_pkey primary key (id),
  constraint feed_state_id_check check (id)
);
insert into feed_state (epoch, cluster, secret, horizon)
values (gen_random_uuid(), '', decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'), 0);

-- Who changed what from what to what, and when. `subscriber` is whose subscription it was about. What the indexes compare
-- needs no order of a language.
create table audit (
  id uuid not null,
  at timestamptz(3) not null default current_timestamp,
  tenant text collate "C" not null,
  actor text collate "C" not null,
  -- Who acted through the client `actor`, if a person did: the id at the issuer, and the name that it was shown by.
  person text collate "C",
  personname text collate "C",
  -- Who issued the token of the client: two issuers may name one client.
  issuer text,
  action text collate "C" not null,
  target text collate "C" not null,
  subscriber text collate "C",
  reference text,
  changed jsonb,
  details jsonb,
  requestid text,
  constraint audit_pkey primary key (tenant, at, id)
);
-- A page is the newest entries of each action, merged: each index gives those of one action in order.
create index audit_at_id_idx on audit (at, id);
create index audit_tenant_action_at_id_idx on audit (tenant, action, at, id);
create index audit_tenant_actor_action_at_id_idx on audit (tenant, actor, action, at, id);
create index audit_tenant_person_action_at_id_idx on audit (tenant, person, action, at, id) where person is not null;
-- The ids of a name.
create index audit_tenant_personname_person_idx on audit (tenant, personname, person) where personname is not null;
create index audit_tenant_subscriber_action_at_id_idx on audit (tenant, subscriber, action, at, id) where subscriber is not null;
create index audit_tenant_target_at_id_idx on audit (tenant, target, at, id);
-- What people did, among millions of entries of programs.
create index audit_people_action_idx on audit (tenant, action, at, id) where person is not null;
create index audit_people_actor_idx on audit (tenant, actor, action, at, id) where person is not null;
create index audit_people_subscriber_idx on audit (tenant, subscriber, action, at, id)
  where person is not null and subscriber is not null;

-- What an Idempotency-Key created, so that a repeated request finds it.
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

-- What of the rate of a pair was leased in each half second of the last 63.5 s, and how far its queue goes
-- (src/consent/lease.ts has the model). One short row for each pair, written in place: no column that changes is indexed.
create table lease_pool (
  pair uuid not null,
  tenant text not null,
  version bigint not null,
  rate bigint not null,
  slot bigint not null,
  slots integer[],
  tokens float8 not null,
  tokensat timestamptz(6) not null,
  lastturn timestamptz(6) not null,
  epoch bigint not null,
  active integer not null,
  activebefore integer not null,
  history uuid not null,
  constraint lease_pool_pkey primary key (pair)
) with (fillfactor = 50);

-- A sender's instance at a pair: when its turn is, and its latest four leases, which it may hand back.
create table lease_holder (
  id uuid not null,
  pair uuid not null,
  instance text not null,
  number bigint not null,
  leaseslots bigint[],
  leasecounts integer[],
  turn timestamptz(6),
  epoch bigint not null,
  askedat timestamptz(6) not null,
  constraint lease_holder_pkey primary key (id),
  constraint lease_holder_pair_fkey foreign key (pair) references lease_pool (pair) on delete cascade on update restrict
) with (fillfactor = 50);
create unique index lease_holder_pair_instance_key on lease_holder (pair, instance);

-- What senders reported of a pair: one row, however many deliveries. The kinds: src/consent/outcome.ts.
create table delivery (
  origin text not null,
  sink text not null,
  tenant text not null,
  delivered bigint not null default 0,
  gone bigint not null default 0,
  throttled bigint not null default 0,
  unavailable bigint not null default 0,
  mediarefused bigint not null default 0,
  unauthorized bigint not null default 0,
  redirected bigint not null default 0,
  rejected bigint not null default 0,
  failed bigint not null default 0,
  no_response bigint not null default 0,
  -- Since the last success: failures, since when, how many of them 410, the first of these, and holds for which no end was named.
  failures bigint not null default 0,
  failingsince timestamptz(3),
  gonecount bigint not null default 0,
  gonesince timestamptz(3),
  holds integer not null default 0,
  lastoutcome text not null,
  laststatuscode integer,
  lastat timestamptz(3) not null,
  deliveredat timestamptz(3),
  constraint delivery_pkey primary key (origin, sink),
  constraint delivery_origin_fkey foreign key (origin) references origin (name) on delete cascade on update restrict
) with (fillfactor = 70);

-- How often something happened: a day by minute, and a year by hour and by day (src/registry/statistics/). The primary key
-- is the order in which rows are locked.
create table statistic (
  tenant text not null,
  origin text not null,
  step text not null,
  startsat timestamptz(3) not null,
  kind text not null,
  code text not null,
  count bigint not null,
  constraint statistic_pkey primary key (tenant, step, startsat, origin, kind, code)
) with (fillfactor = 50);

-- The same by host of the sink, for a day by hour. A number each, so that the day of ten thousand hosts is added up at once.
create table host_statistic (
  tenant text not null,
  startsat timestamptz(3) not null,
  host text not null,
  delivered bigint not null default 0,
  throttled bigint not null default 0,
  gone bigint not null default 0,
  -- Other outcomes of deliveries.
  failed bigint not null default 0,
  -- Handshakes.
  refused bigint not null default 0,
  leased bigint not null default 0,
  allowed bigint not null default 0,
  constraint host_statistic_pkey primary key (tenant, startsat, host)
) with (fillfactor = 50);

-- What an admin stops, with reason and optional end (src/registry/blocks/block.ts). A row is in force until it is deleted. `tenant` is
-- whose deliveries are stopped; `*` is every tenant.
create table block (
  id uuid not null,
  tenant text not null,
  kind text not null,
  -- In the form in which it is compared: an origin in lower case, a canonical sink, host or network.
  value text not null,
  reason text not null,
  endsat timestamptz(3),
  createdat timestamptz(3) not null default current_timestamp,
  createdby text not null,
  createdbyperson jsonb,
  -- Only an operator may lift what an operator blocked.
  byoperator boolean not null default false,
  constraint block_pkey primary key (id),
  constraint block_kind_check check (kind in ('origin', 'sink', 'host', 'domain', 'network', 'subscriber', 'tenant')),
  constraint block_tenant_check check (kind <> 'tenant' or tenant <> '*')
);
create index block_tenant_id_idx on block (tenant, id);
create index block_endsat_idx on block (endsat) where endsat is not null;

-- How far consumers were told what a block stopped, or what its end released (src/registry/blocks/announcements.ts). The
-- row outlives the block until they are.
create table block_announcement (
  block uuid not null,
  tenant text not null,
  kind text not null,
  value text not null,
  -- The block was lifted.
  islifted boolean not null default false,
  -- The last subscription that was looked at. Tenants come in their order, the subscriptions of each by id.
  attenant text not null,
  atid uuid not null,
  -- Of a lifted block: how far the first walk came. Null if to its end.
  untiltenant text,
  untilid uuid,
  -- How many were told, and of these: live grants, and the first names of origins.
  subscriptioncount integer not null default 0,
  grantcount integer not null default 0,
  origins text[],
  -- When the latest page was written. Announcements take turns.
  pagedat timestamptz(3) not null default current_timestamp,
  finishedat timestamptz(3),
  constraint block_announcement_pkey primary key (block)
);
create index block_announcement_open_idx on block_announcement (pagedat) where finishedat is null;

-- Whether a block of this kind stops deliveries of an origin to a sink, whose host had this address when it gave consent.
-- Postgres inlines it; bound to what it calls, because the workers of a cluster have another search_path.
create function blocks_pair(kind text, value text, origin text, sink text, address text) returns boolean
language sql immutable
return case kind
  when 'tenant' then true
  when 'origin' then value = origin
  when 'sink' then value = sink
  when 'host' then value = sink_host(sink)
  when 'domain' then right('.' || sink_host(sink), length(value) + 1) = '.' || value
  when 'network' then
    case when sink_host(sink) ~ '^(\[.*\]|[0-9.]+)$' then trim(both '[]' from sink_host(sink)) else address end::inet
      <<= value::inet
  else false
end;

-- Vacuumed and analyzed when one row of fifty has changed. By default it is one of five: of a million grants 200,000 dead
-- rows. Columns that are not indexed change in place, if a page has room for the new version of a row.
alter table "grant" set (fillfactor = 90);
do $$
declare
  hot text;
begin
  foreach hot in array array['subscription', 'handshake', 'handshake_lane', 'attempt', 'cooldown', 'rate_window', 'grant', 'change',
    'audit', 'idempotency', 'lease_pool', 'lease_holder', 'delivery', 'statistic', 'host_statistic'] loop
    execute format('alter table %I set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
      autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 1000)', hot);
  end loop;
end
$$;

-- 2 Views -----------------------------------------------------------------------------------------------------------

-- May this origin send to this sink now? The reasons and their order are those of standingOf and denialOf in
-- src/consent/decision.ts; test/consent/decision.test.ts holds both to the same answers. Postgres inlines these functions
-- because each argument that can be a query is used once.

-- Where a grant stands: what ended or revoked it, then a block, then its expiry. Null without a grant.
create function grant_standing(state text, isblocked boolean, expiresat timestamptz, moment timestamptz) returns text
language sql immutable
return case
  when state = 'live' then case when isblocked then 'blocked' when expiresat <= moment then 'expired' else 'live' end
  else state
end;

-- Why the origin may not send; null if it may. `subscriptions` of the pair: one is `open`, those that have not ended are
-- `suspended`, all have `ended`, or there is `none`. An agreement needs none.
create function delivery_denial(standing text, subscriptions text, basis text, helduntil timestamptz, moment timestamptz)
returns text
language sql immutable
return coalesce(
  nullif(coalesce(standing, 'no_grant'), 'live'),
  case subscriptions
    when 'suspended' then 'suspended'
    when 'ended' then case when basis <> 'agreement' then 'ended' end
    when 'none' then case when basis <> 'agreement' then 'suspended' end
  end,
  case when helduntil > moment then 'held' end
);

-- The decision for each pair that has a grant. Nearly every pair has a subscription without an end that is not suspended.
create view pair_permission as
select g.tenant, g.origin, g.sink, g.allowedrate, g.helduntil,
  delivery_denial(
    grant_standing(g.state, exists (
      select from block b
      where b.tenant in (g.tenant, '*') and blocks_pair(b.kind, b.value, g.origin, g.sink, g.address)
    ), g.expiresat, now()),
    case when exists (
      select from subscription s
      where s.origin = g.origin and s.sink = g.sink and s.suspendedat is null and s.endsat is null and s.endedat is null
        and s.subscriber <> all (array(select value from block where tenant in (g.tenant, '*') and kind = 'subscriber'))
    ) then 'open' else (
      select case when bool_or(isopen) then 'open' when bool_or(not hasended) then 'suspended' when count(*) > 0 then 'ended' else 'none' end
      from (
        select coalesce(s.endsat <= now(), false) as hasended,
          s.suspendedat is null and coalesce(s.endsat > now(), true)
            and s.subscriber <> all (array(select value from block where tenant in (g.tenant, '*') and kind = 'subscriber')) as isopen
        from subscription s where s.origin = g.origin and s.sink = g.sink and s.endedat is null
      ) each
    ) end,
    g.basis, g.helduntil, now()
  ) as denial
from "grant" g;

-- Until when the due handshakes of a lane wait for a budget: of their host, its domain, or their tenant.
create view lane_hold as
select l.tenant, l.sinkhost, greatest(l.helduntil, w.fulluntil) as until
from handshake_lane l left join rate_window w on w.key = 'tenant:' || l.tenant
where greatest(l.helduntil, w.fulluntil) > now();

-- Where a subscription stands, derived from its own state, the grant of its pair and its latest handshake. A renewal
-- belongs to the pair, not to one subscription, and counts for all of them. What was said of an earlier sink or origin
-- counts no longer. A webhook that answered a delivery with 410 is retired, until a handshake says something else. A
-- subscription whose end has passed has expired, whatever its grant. `since` is when what stops it began; null while it is
-- active.
create view subscription_status as
select known.*,
  -- The same as the codes that src/registry/subscriptions/status-details.ts explains.
  case
    when isended then 'ended'
    when status in ('blocked', 'suspended') then status
    when status = 'active' then
      case basis when 'response' then 'granted' when 'callback' then 'callback_granted' when 'policy' then 'granted_by_policy' else basis end
    when grantstate = 'revoked' then 'revoked'
    when status = 'expired' then 'expired'
    when status = 'retired' and verdict is distinct from 'gone' then 'gone'
    when handshakestate = 'asking' and coalesce(verdict, 'held_by_budget') = 'held_by_budget' then 'asking'
    when verdict is null then 'not_asked_yet'
    when verdict in ('name_not_found', 'address_not_allowed') then 'name_not_public'
    else verdict
  end as code
from (
  select
    s.id,
    h.id as handshake,
    h.state as handshakestate,
    h.trigger as handshaketrigger,
    h.requestedrate as askedrate,
    case when hold.until is null then h.verdict else 'held_by_budget' end as verdict,
    h.attempts,
    coalesce(hold.until, greatest(h.dueat, h.createdat)) as dueat,
    h.waitinguntil,
    h.rejectedcallback,
    a.startedat as askedat,
    a.responseheaders,
    a.evidence,
    a.callbackexpiresat is not null or h.state = 'waiting' as callbackoffered,
    g.state as grantstate,
    g.basis,
    g.allowedrate,
    g.tolerated,
    g.expiresat,
    g.renewat,
    greatest(0, floor(extract(epoch from g.expiresat - now())))::float8 as secondsleft,
    d.isended,
    b.block,
    d.denial,
    case
      when d.denial is null then null
      when d.isended then coalesce(s.endsat, s.endedat)
      when d.denial = 'blocked' then greatest(b.createdat, s.createdat)
      when d.denial = 'suspended' then s.suspendedat
      -- The end of the grant, or what the webhook said after it.
      else greatest(
        case when h.state in ('due', 'asking', 'waiting') then h.createdat else h.finishedat end,
        case when g.state = 'live' then g.expiresat else g.endedat end)
    end as since,
    case
      when d.denial is null then 'active'
      when d.isended then 'expired'
      when d.denial in ('blocked', 'suspended') then d.denial
      when d.denial = 'revoked' then 'refused'
      when h.state in ('due', 'asking', 'waiting') then 'pending'
      when g.state = 'ended' and g.endcode = 'target_gone' and (h.finishedat is null or h.finishedat <= g.endedat) then 'retired'
      when g.state = 'live' and (h.state = 'granted' or h.trigger = 'renewal' or h.state is null) then 'expired'
      when h.state in ('refused', 'unreachable', 'retired') then h.state
      else 'expired'
    end as status
  from subscription s
  left join "grant" g on g.origin = s.origin and g.sink = s.sink
  left join lateral (
    select * from (
      (select * from handshake own
        where own.subscription = s.id and own.generation = s.generation and own.state <> 'cancelled'
        order by own.createdat desc, own.id desc limit 1)
      union all
      (select * from handshake renewal
        where renewal.origin = s.origin and renewal.sink = s.sink and renewal.trigger = 'renewal' and renewal.state <> 'cancelled'
          and renewal.createdat >= s.createdat
        order by renewal.createdat desc, renewal.id desc limit 1)
    ) latest
    order by createdat desc, id desc limit 1
  ) h on true
  left join lane_hold hold
    on h.state = 'due' and h.dueat <= now() and hold.tenant = h.tenant and hold.sinkhost = h.sinkhost
  left join attempt a on a.handshake = h.id and a.number = h.attempts
  left join lateral (
    select jsonb_build_object('kind', kind, 'value', value, 'reason', reason, 'endsat', endsat) as block, block.createdat
    from block
    where block.tenant in (s.tenant, '*')
      and (blocks_pair(kind, value, s.origin, s.sink, g.address) or (kind = 'subscriber' and value = s.subscriber))
    order by block.id limit 1
  ) b on true
  -- Why it gets nothing: its own reasons before those of the grant, which it shares. Null if it gets what it matches.
  cross join lateral (
    select isended, case
      when isended then 'ended'
      when b.block is not null then 'blocked'
      when s.suspendedat is not null then 'suspended'
      else delivery_denial(grant_standing(g.state, false, g.expiresat, now()), 'open', g.basis, null, now())
    end as denial
    from (select s.endedat is not null or coalesce(s.endsat <= now(), false) as isended) ends
  ) d
) known;

-- The public keys that verifiers of an origin find: its own and those of its sets, until they end. None that was revoked, even
-- if a set has it.
create view origin_public_key as
select distinct on (k.origin, known.keyid) k.origin, known.keyid, known.publickey, k.startsat, k.endsat
from origin_key k cross join lateral (
  select k.publickey ->> 'kid' as keyid, k.publickey where k.publickey is not null
  union all
  select e.key ->> 'kid', e.key from jsonb_array_elements(k.jwks) as e (key)
) known
where k.revokedat is null and (k.endsat is null or k.endsat > now())
  and not exists (
    select from origin_key revoked
    where revoked.origin = k.origin and revoked.revokedat is not null and revoked.publickey ->> 'kid' = known.keyid)
order by k.origin, known.keyid, k.endsat desc nulls first, k.startsat;

-- What the log tells about, as it is now: one line of a snapshot each, and what a change carries. A block is a line of its
-- own, and no part of the others: followers compare (src/matching/replica/blocks.ts).
create view origin_state as
select o.name as origin, o.tenant, json_strip_nulls(row_to_json(known)) as resource
from origin o, lateral (
  select o.name, o.isdefault, o.profile, o.signatures, o.verifiedby is not null as verified,
    (select c.fingerprint from client_certificate c where c.origin = o.name) as certificatefingerprint,
    (select coalesce(json_agg(json_build_object(
        'keyid', k.keyid,
        'startsat', to_char(k.startsat at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'endsat', to_char(k.endsat at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
      ) order by k.startsat, k.keyid), '[]')
      from origin_public_key k where k.origin = o.name) as keys
) known;

create view block_state as
select b.id, b.tenant, row_to_json(known) as resource
from block b, lateral (select b.id, b.kind, b.value) known;

-- A subscription whose end was recorded is gone, as if it had been deleted. Until then, readers compare `expiresat`.
create view subscription_state as
select s.id, s.tenant, s.origin, json_strip_nulls(row_to_json(known)) as resource
from subscription s, lateral (
  select s.id, s.subscriber, s.origin, s.sink, s.source, s.types, s.subject, s.filters, s.protocolsettings,
    s.sinkcredential is not null as hascredential,
    -- Few have one, so the others leave it out.
    case when s.signingsecret is not null then true end as hassigningsecret,
    s.suspendedat is not null as suspended,
    to_char(s.endsat at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as expiresat
) known
where s.endedat is null;

-- Readers compare `expiresat`, because nothing is logged when it passes. Times as everywhere else: clients that hold the
-- contract's date-time to `Z` refuse `+00:00`. They compare `address` with blocked networks.
create view grant_state as
select g.id, g.origin, g.sink, g.tenant, json_strip_nulls(row_to_json(known)) as resource
from "grant" g, lateral (
  select g.id, g.origin, g.sink, g.state, g.basis,
    case g.allowedrate when '*' then to_json(g.allowedrate) else to_json(g.allowedrate::bigint) end as allowedrate, g.address,
    to_char(g.expiresat at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as expiresat,
    to_char(g.helduntil at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as helduntil
) known;

-- 3 Functions -------------------------------------------------------------------------------------------------------

-- Waits for a lock of this registry, by its name, and holds it until the transaction ends. Registries that share a
-- database, each in a schema of its own, do not wait for each other.
create function lock_registry(name text) returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended(current_schema() || ' ' || name, 0));
end
$$;

-- Appends to the ordered log; the last thing that a transaction does. The lock is held until that commits, so that
-- positions become visible in their order: a sequence alone would let a reader pass a position that commits late, and
-- miss it for ever. What a change is about is looked up by its key, whatever a plan that was made while a table was small
-- would do, and planned once. A plan of a forbidden kind costs so much that Postgres up to 17 would compile it at each call,
-- hence no JIT.
-- `subscribers` says whose subscription each is about, where the caller knows it: a deleted one can't be looked up.
-- Whoever is notified is told which registry it is, and up to where.
create function append_changes(tenants text[], origins text[], kinds text[], sinks text[], subscriptions uuid[],
  causes text[] default null, subscribers text[] default null, blocks uuid[] default null)
returns void language plpgsql
set timezone = 'UTC' set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
set plan_cache_mode = force_generic_plan as $$
declare
  resources jsonb[];
  -- Of each change, as JSON: an array of arrays must be rectangular.
  concerned jsonb[];
  last bigint;
begin
  perform lock_registry('changes');
  select array_agg((case
      when c.kind like 'origin.%' then (select s.resource from origin_state s where s.origin = c.origin and s.tenant = c.tenant)
      when c.block is not null then (select s.resource from block_state s where s.id = c.block)
      -- A handshake without consent, or what a block does: its subject has not changed.
      when c.kind like 'handshake.%' or c.kind in ('subscription.blocked', 'subscription.unblocked') then null
      when c.subscription is not null
        then (select case when s.origin = c.origin then s.resource end from subscription_state s where s.id = c.subscription)
      else (select s.resource from grant_state s where s.origin = c.origin and s.sink = c.sink)
    end)::jsonb order by c.place),
    array_agg(case
      when c.kind like 'origin.%' or c.block is not null then null
      when c.subscriber is not null then jsonb_build_array(c.subscriber)
      when c.subscription is not null
        then (select jsonb_build_array(s.subscriber) from subscription s where s.id = c.subscription)
      else (
        select jsonb_agg(distinct s.subscriber) from subscription s
        where s.origin = c.origin and s.sink = c.sink and s.endedat is null)
    end order by c.place)
  into resources, concerned
  from unnest(tenants, origins, kinds, sinks, subscriptions, subscribers, blocks)
    with ordinality as c (tenant, origin, kind, sink, subscription, subscriber, block, place);
  with appended as (
    insert into change (tenant, origin, kind, sink, subscription, resource, cause, subscribers, block)
    select c.tenant, c.origin, c.kind, c.sink, c.subscription, c.resource, c.cause,
      case when c.concerned is not null then array(select jsonb_array_elements_text(c.concerned)) end, c.block
    from unnest(tenants, origins, kinds, sinks, subscriptions, resources, causes, concerned, blocks)
      with ordinality as c (tenant, origin, kind, sink, subscription, resource, cause, concerned, block, place)
    order by c.place
    returning position
  )
  select max(position) into last from appended;
  perform pg_notify('assent_change', current_schema() || ' ' || last);
end
$$;

-- Subscriptions as the API has them: the row, where it stands, the profile of its origin, and whether its previous credential
-- and signing secret are still valid. To plan the view takes three times as long as to run it for a batch, hence once for each connection; by
-- key and without JIT, as in append_changes.
create function read_subscriptions(ids uuid[])
returns table (own subscription, derived subscription_status, profile text, overlaps boolean, signingoverlaps boolean)
language plpgsql stable
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
begin
  return query
  select s, d, o.profile, s.previousuntil > now(), s.previoussigninguntil > now()
  from subscription s join subscription_status d on d.id = s.id join origin o on o.name = s.origin
  where s.id = any (ids);
end
$$;

-- The facts that decide about a lease for each of the asked pairs that has a grant. Times are milliseconds since 1970.
-- Everything is looked up by its key: a plan that was made while a table was small would read all of it, and this is called
-- so often that it must be planned once. No JIT, as in append_changes.
create function read_leases(asked jsonb)
returns table (place integer, pair uuid, denial text, allowedrate text, burst integer, helduntil float8, pool json, holder json,
  holders integer, history uuid, "now" float8, startedat float8)
language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
#variable_conflict use_column
begin
  return query
  select a.place, a.pair, p.denial, p.allowedrate, o.burst, (extract(epoch from p.helduntil) * 1000)::float8,
    (select row_to_json(b) from lease_pool b where b.pair = a.pair),
    (select row_to_json(h) from lease_holder h where h.pair = a.pair and h.instance = a.instance),
    -- How many others asked lately, if this one is new.
    case when (select id from lease_holder h where h.pair = a.pair and h.instance = a.instance) is null then (
      select count(*)::integer from lease_holder h where h.pair = a.pair and h.askedat > now() - interval '5 minutes'
    ) end,
    f.epoch, floor(extract(epoch from clock_timestamp()) * 1000)::float8,
    -- If one backend crashes, the server restarts under the same postmaster, and its statistics with it.
    (extract(epoch from greatest(pg_postmaster_start_time(), (select stats_reset from pg_stat_wal))) * 1000)::float8
  from jsonb_to_recordset(asked) as a (place integer, tenant text, origin text, sink text, pair uuid, instance text)
  cross join feed_state f
  join pair_permission p on p.origin = a.origin and p.sink = a.sink and p.tenant = a.tenant
  join origin o on o.name = a.origin;
end
$$;

-- Stores pools and their holders as src/registry/deliveries/lease.ts computed them, and returns the pairs of those stored. Does
-- not store a pool that another process has written since it was read: one that has another version, or that exists although
-- it is one of the `created`.
create function store_leases(pools jsonb, holders jsonb, created uuid[]) returns uuid[] language plpgsql as $$
declare
  each lease_pool;
  stored uuid[] := '{}';
begin
  -- A crash of the server loses less than a second of this, which the next lease makes up for. It could not make up for a
  -- whole pool, of which it knows nothing.
  if cardinality(created) = 0 then perform set_config('synchronous_commit', 'off', true); end if;
  -- In one order, so that two processes never wait for each other.
  for each in select * from jsonb_populate_recordset(null::lease_pool, pools) order by pair loop
    insert into lease_pool as present values (each.*)
    on conflict (pair) do update set tenant = each.tenant, version = each.version, rate = each.rate, slot = each.slot,
      slots = each.slots, tokens = each.tokens, tokensat = each.tokensat, lastturn = each.lastturn, epoch = each.epoch,
      active = each.active, activebefore = each.activebefore, history = each.history
    where present.version = each.version - 1 and each.pair <> all (created);
    if found then stored := stored || each.pair; end if;
  end loop;
  insert into lease_holder
  select h.* from jsonb_populate_recordset(null::lease_holder, holders) h where h.pair = any (stored)
  on conflict (id) do update set number = excluded.number, leaseslots = excluded.leaseslots,
    leasecounts = excluded.leasecounts, turn = excluded.turn, epoch = excluded.epoch, askedat = excluded.askedat;
  return stored;
end
$$;

-- Citus can't plan a statement without its values.
do $$
begin
  if exists (select from pg_extension where extname = 'citus') then
    alter function append_changes reset plan_cache_mode;
    alter function read_subscriptions reset plan_cache_mode;
  end if;
end
$$;
