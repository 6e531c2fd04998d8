import { SetupError } from '../../base/errors.js';
import type { Database } from './database.js';

/** What to do if the database user lacks a right. */
export const asOwner =
  'Run "assent migrate" as the user who owns the tables, and grant this one its rights (docs/operate/install.md)';

/**
 * SetupError if the database user lacks a right to a table or a sequence of the registry: those of the owner of its
 * migrations, because a schema may hold things of others, such as the views of an extension. Otherwise a process would start, be ready, and
 * fail at the first request that needs it.
 */
export async function requireRights({ query }: Database, readsOnly: boolean): Promise<void> {
  const tables = readsOnly ? ['SELECT'] : ['SELECT', 'INSERT', 'UPDATE', 'DELETE'];
  const [found] = await query<{ user: string; lacking: string[] | null }>(
    `with wanted as (
       select c.oid, c.relname, c.relkind, p.name from pg_class c
         cross join unnest(case when c.relkind = 'S' then $2::text[] when c.relkind = 'v' then array['SELECT'] else $1::text[] end)
           as p (name)
       where c.relnamespace = quote_ident(current_schema())::regnamespace and c.relkind in ('r', 'p', 'v', 'S')
         and c.relowner = (select relowner from pg_class where oid = '_prisma_migrations'::regclass)
         and not exists (select from pg_depend d where d.objid = c.oid and d.classid = 'pg_class'::regclass and d.deptype = 'e'))
     select current_user::text as user, array_agg(lower(name) || ' on ' || relname order by relname, name) as lacking
     from wanted
     where not case when relkind = 'S' then has_sequence_privilege(oid, name) else has_table_privilege(oid, name) end`,
    [tables, readsOnly ? [] : ['USAGE']],
  );
  const { user = '', lacking } = found ?? {};
  if (!lacking) return;
  const listed = lacking.length > 5 ? [...lacking.slice(0, 5), `${lacking.length - 5} more`] : lacking;
  throw new SetupError(`The database user ${user} lacks rights: ${listed.join(', ')}. ${asOwner}.`);
}
