-- A subscriber lists its own few, however many the other subscribers of its tenant have.
create index subscription_tenant_subscriber_id_idx on subscription (tenant, subscriber, id);
