-- Readers of the feed that are far back page through the changes of one tenant, or of one origin.
create index change_tenant_position_idx on change (tenant, position);
create index change_origin_position_idx on change (origin, position);
