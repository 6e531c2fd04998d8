-- Written as all other times: clients that hold the contract's date-time to `Z` refuse `+00:00`.
create or replace view grantstate as
select g.id, g.origin, g.sink, g.tenant, row_to_json(known) as state
from "grant" g, lateral (
  select g.id, g.origin, g.sink, g.state, g.basis, g.allowedrate,
    to_char(g.expiresat at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as expiresat,
    to_char(g.helduntil at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as helduntil
) known;
