-- As before, but a lease is over once something of it was handed back, so that whoever asks again because the answer was
-- lost hands nothing back that was sent.
create or replace function take_lease(
  by_tenant text, for_origin text, for_sink text, by_instance text, wanted integer,
  handedback text[], unused integer[], moment timestamptz default null,
  out denial text, out rate text, out granted integer, out lease text, out until timestamptz,
  out retryafter float8, out held timestamptz
) language plpgsql as $$
declare
  permit record;
  book leasebook;
  holder leaseholder;
  key constant uuid := encode(substr(sha256(convert_to(for_origin || ' ' || for_sink, 'UTF8')), 1, 16), 'hex')::uuid;
  isnew boolean := false;
  filled integer[];
  present bigint;
  place integer;
  number bigint;
  back integer;
  allback integer := 0;
  -- Requests: in a minute, in a second, at once, at hand, left in the window; of how many; in the next lease.
  allowed bigint;
  pace float8;
  burst float8;
  tokens float8;
  room bigint;
  sharers integer;
  need integer;
  wait float8;
  fullat timestamptz;
  -- Which history of the database this is, and when its server last began with what was on the disk.
  present_history uuid;
  begunat timestamptz;
begin
  granted := 0;
  select * into permit from "grant" g where g.origin = for_origin and g.sink = for_sink and g.tenant = by_tenant;
  if not found then denial := 'no_grant'; return; end if;
  if permit.state <> 'live' then denial := permit.state; return; end if;
  if permit.expiresat <= coalesce(moment, clock_timestamp()) then denial := 'expired'; return; end if;
  if not exists (select from subscription s where s.origin = for_origin and s.sink = for_sink and s.suspendedat is null)
    and (permit.basis <> 'agreement' or exists (select from subscription s where s.origin = for_origin and s.sink = for_sink))
  then denial := 'suspended'; return; end if;
  rate := permit.allowedrate;
  if permit.helduntil > coalesce(moment, clock_timestamp()) then
    held := permit.helduntil;
    retryafter := extract(epoch from held - coalesce(moment, clock_timestamp()));
    return;
  end if;
  if rate = '*' then granted := wanted; return; end if;

  select f.epoch into present_history from feed f;
  select * into book from leasebook b where b.pair = key for update;
  if found then
    -- What a crash of the server loses of this is less than a second, and is made up for below.
    perform set_config('synchronous_commit', 'off', true);
  else
    insert into leasebook values
      (key, by_tenant, 0, 0, array_fill(0, array[127]), 0, coalesce(moment, clock_timestamp()), 'epoch', 0, 0, 0, present_history)
    on conflict do nothing;
    isnew := found;
    select * into book from leasebook b where b.pair = key for update;
  end if;
  -- Not before the lock is held: who waited for it must not write into a slot that has passed.
  moment := coalesce(moment, clock_timestamp());
  allowed := least(rate::bigint, 2000000000);
  pace := allowed / 63.5;
  burst := greatest(1, ceil(pace * 4));
  -- Half of it at first: a webhook under steady demand from the beginning would have a hole a minute later.
  if isnew then book.tokens := greatest(1, ceil(pace * 2)); end if;

  filled := book.slots;
  present := floor(extract(epoch from moment) * 2);
  if present < book.slot - 4 then
    -- The clock was put back. What stands in the window stays there, as if it were granted now.
    place := least(2000000000, (select sum(each) from unnest(filled) each));
    filled := array_fill(0, array[127]);
    filled[1 + present % 127] := place;
    book.tokensat := moment;
    book.lastturn := moment;
  elsif present >= book.slot + 127 then
    filled := array_fill(0, array[127]);
  else
    present := greatest(present, book.slot);
    for step in 1 .. (present - book.slot)::integer loop filled[1 + (book.slot + step) % 127] := 0; end loop;
  end if;
  book.slot := present;
  place := 1 + present % 127;
  -- Where one backend crashes, the server begins anew under the same postmaster, and its statistics do as well.
  select greatest(pg_postmaster_start_time(), w.stats_reset) into begunat from pg_stat_wal w;
  if not isnew and (book.history <> present_history or begunat > greatest(book.tokensat, moment - interval '64 seconds')) then
    filled[place] := least(2000000000, filled[place] + least(allowed, burst + ceil(pace)));
    book.tokens := 0;
    book.tokensat := moment;
    book.history := present_history;
  end if;

  select * into holder from leaseholder h where h.pair = key and h.instance = by_instance;
  if not found then
    if (select count(*) from leaseholder h where h.pair = key) >= 1000 then
      -- Names are anybody's to choose. What has not asked for minutes has neither a turn nor anything to hand back.
      delete from leaseholder h where h.pair = key and h.askedat < moment - interval '5 minutes';
      if not found then
        retryafter := 60;
        return;
      end if;
    end if;
    holder := row(gen_random_uuid(), key, by_instance, 0, array[0, 0, 0, 0], array[0, 0, 0, 0], null, -1, moment);
    insert into leaseholder select holder.*;
  end if;
  for entry in 1 .. coalesce(cardinality(handedback), 0) loop
    continue when handedback[entry] !~ '^[0-9a-f-]{36}\.[0-9]{1,15}$' or left(handedback[entry], 36) <> holder.id::text;
    number := substr(handedback[entry], 38)::bigint;
    continue when number > holder.number or number <= holder.number - 4;
    continue when holder.leaseslots[1 + number % 4] <= present - 127;
    back := least(unused[entry], holder.leasecounts[1 + number % 4]);
    holder.leasecounts[1 + number % 4] := 0;
    filled[1 + holder.leaseslots[1 + number % 4] % 127] := filled[1 + holder.leaseslots[1 + number % 4] % 127] - back;
    allback := allback + back;
  end loop;

  if book.rate <> allowed then
    -- Turns that were given out at another pace hold no longer.
    book.rate := allowed;
    book.lastturn := moment;
  end if;
  book.lastturn := book.lastturn - make_interval(secs => allback / pace);
  fullat := book.tokensat + make_interval(secs => greatest(0, burst - book.tokens) / pace);
  tokens := least(burst, allback
    + least(burst, book.tokens + pace * greatest(0, extract(epoch from moment - book.tokensat))));
  room := allowed - (select sum(each) from unnest(filled) each);

  -- Who asked within some seconds, to divide by.
  if book.epoch <> floor(extract(epoch from moment) / 4) then
    book.activebefore := case when book.epoch = floor(extract(epoch from moment) / 4) - 1 then book.active else 0 end;
    book.active := 0;
    book.epoch := floor(extract(epoch from moment) / 4);
  end if;
  if holder.epoch <> book.epoch then
    holder.epoch := book.epoch;
    book.active := book.active + 1;
  end if;
  sharers := greatest(book.active, book.activebefore);
  -- Nobody was here a while ago: others may be about to come.
  need := least(wanted, greatest(1, ceil(pace * 2 / case when book.activebefore = 0 then greatest(8, sharers) else sharers end)));

  -- Who has waited for its turn or brings something along, anybody while nobody waits or those who wait let a second pass.
  if fullat < moment - interval '1 second' then book.lastturn := least(book.lastturn, moment); end if;
  if book.lastturn <= moment or holder.turn <= moment or allback > 0 then
    granted := greatest(0, least(wanted, greatest(need, ceil(tokens / sharers)), floor(tokens + 1e-6), room));
  end if;
  if granted > 0 or allback > 0 then
    book.tokens := tokens - granted;
    book.tokensat := moment;
  end if;
  if granted > 0 then
    holder.number := holder.number + 1;
    holder.leaseslots[1 + holder.number % 4] := present;
    holder.leasecounts[1 + holder.number % 4] := granted;
    filled[place] := filled[place] + granted;
    lease := holder.id || '.' || holder.number;
    until := moment + interval '2 seconds';
  end if;

  -- When to ask again: when there is enough for a lease, behind those who wait.
  wait := greatest(0, (need - tokens + granted) / pace);
  if room - granted < 1 then
    back := 0;
    for step in 1 .. 127 loop
      back := back + filled[1 + (present + step) % 127];
      if room - granted + back >= 1 then
        wait := greatest(wait, (present + step) / 2.0 - extract(epoch from moment));
        exit;
      end if;
    end loop;
  end if;
  if granted = 0 and holder.turn > moment then
    -- It keeps its turn.
    retryafter := least(extract(epoch from holder.turn - moment), greatest(wait, 60));
  elsif granted = wanted or (granted > 0 and tokens - granted >= need and room - granted >= need) then
    holder.turn := null;
    retryafter := case when tokens - granted >= need and room - granted >= need then 0
      else greatest(wait, extract(epoch from book.lastturn - moment)) end;
  elsif granted = 0 and holder.turn is not null and (room >= 1 or need / pace > 0.5) then
    -- Its turn came too early. Where many have turns within one slot that is full, they line up anew instead.
    holder.turn := moment + make_interval(secs => wait);
    retryafter := wait;
  else
    holder.turn := greatest(book.lastturn + make_interval(secs => need / pace), moment + make_interval(secs => wait));
    book.lastturn := holder.turn;
    retryafter := least(extract(epoch from holder.turn - moment), greatest(wait, 60));
  end if;
  retryafter := ceil(retryafter * 1000) / 1000;

  update leasebook b set tenant = by_tenant, rate = book.rate, slot = book.slot, slots = filled, tokens = book.tokens, tokensat = book.tokensat,
    lastturn = book.lastturn, epoch = book.epoch, active = book.active, activebefore = book.activebefore, history = book.history
  where b.pair = key;
  update leaseholder h set number = holder.number, leaseslots = holder.leaseslots, leasecounts = holder.leasecounts,
    turn = holder.turn, epoch = holder.epoch, askedat = moment
  where h.id = holder.id;
end
$$;

create or replace function hand_back_lease(by_tenant text, lease text, unused integer, moment timestamptz default null)
returns integer language plpgsql as $$
declare
  book leasebook;
  holder leaseholder;
  number bigint;
  place integer;
  back integer;
begin
  if lease !~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.[0-9]{1,15}$' then return null; end if;
  number := substr(lease, 38)::bigint;
  place := 1 + number % 4;
  select b.* into book from leasebook b join leaseholder h on h.pair = b.pair
  where h.id = left(lease, 36)::uuid and b.tenant = by_tenant for update of b;
  if not found then return null; end if;
  select * into holder from leaseholder h where h.id = left(lease, 36)::uuid;
  if number < 1 or number > holder.number then return null; end if;
  moment := coalesce(moment, clock_timestamp());
  if number <= holder.number - 4 or holder.leaseslots[place] <= floor(extract(epoch from moment) * 2) - 127
    or holder.leaseslots[place] <= book.slot - 127 then return 0; end if;
  perform set_config('synchronous_commit', 'off', true);
  back := least(unused, holder.leasecounts[place]);
  update leasebook b set tokens = b.tokens + back,
    lastturn = b.lastturn - make_interval(secs => back * 63.5 / b.rate),
    slots[1 + holder.leaseslots[place] % 127] = b.slots[1 + holder.leaseslots[place] % 127] - back
  where b.pair = book.pair;
  update leaseholder h set leasecounts[place] = 0 where h.id = holder.id;
  return back;
end
$$;
