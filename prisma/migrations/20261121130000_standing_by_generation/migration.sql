-- What was said of an earlier sink or origin of a subscription counts no longer.
create or replace view subscriptionstatus as
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
      where own.subscription = s.id and own.generation = s.generation and own.state <> 'cancelled'
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
