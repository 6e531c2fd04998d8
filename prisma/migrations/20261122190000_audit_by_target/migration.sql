-- Who looks into what became of one subscription reads its few entries, and not years of them.
create index audit_tenant_target_id_idx on audit (tenant, target, id);
