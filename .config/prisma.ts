import { defineConfig } from 'prisma/config';

/** Read by the Prisma command line only; the service takes DATABASE_URL from its own configuration. */
export default defineConfig({
  schema: '../prisma/schema.prisma',
  migrations: { path: '../prisma/migrations' },
  datasource: { url: process.env['DATABASE_URL'] ?? '' },
});
