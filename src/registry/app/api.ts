import type { RequestListener } from 'node:http';
import { routes as blocks } from '../blocks/routes.js';
import { pathOf } from '../../base/formats/uri.js';
import { routes as changes } from '../changes/routes.js';
import type { Context } from '../context.js';
import { routes as deliveries } from '../deliveries/routes.js';
import { authzenMetadata } from '../gateways/authzen-routes.js';
import { routes as gateways } from '../gateways/routes.js';
import { routes as grants } from '../grants/routes.js';
import { routes as callbacks } from '../handshake/routes.js';
import { createApp } from '../http/app.js';
import { serveDocuments } from '../http/documents.js';
import { createFastPath } from '../http/fast-path.js';
import { siteOf } from '../http/html-page.js';
import { Pipeline } from '../http/pipeline.js';
import { routes as match } from '../match/routes.js';
import { serveDirectory } from '../origins/directory.js';
import { certificateRoutes } from '../origins/client-certificate-routes.js';
import { routes as origins } from '../origins/routes.js';
import { servePages } from '../pages/serve.js';
import { routes as overview } from '../overview/routes.js';
import { routes as probes } from '../probes/routes.js';
import { routes as statistics } from '../statistics/routes.js';
import { routes as subscriptions } from '../subscriptions/routes.js';
import type { Issuers } from '../tokens/issuers.js';

/** The API: a handler for each operation, one pipeline, and the two transports that feed it. */
export function createApi(
  context: Context,
  { tokens, developmentKeys }: Issuers,
  onWritten: () => Promise<void>,
): RequestListener {
  const { contract, config, log, tracing, metrics, registryKeys, checkAnswers, stopping } = context;
  const pipeline = new Pipeline({
    log,
    tracing,
    publicUrl: config.publicUrl ?? '',
    site: siteOf(config),
    checkAnswers,
    stopping,
    handlers: {
      ...subscriptions(context),
      ...callbacks(context),
      ...grants(context),
      ...origins(context),
      ...certificateRoutes(context),
      ...blocks(context),
      ...deliveries(context),
      ...changes(context),
      ...statistics(context),
      ...overview(context),
      ...match(context),
      ...gateways(context),
      ...probes(context),
    },
    readsOnly: config.database.replicaUrl !== undefined,
    authenticate: (authorization) => tokens.authenticate(authorization),
    onWritten,
    onRequest: (...request) => metrics.request(...request),
    maxEventBytes: config.message.bytes,
    stallMs: config.feed.stallMs,
  });
  const app = createApp({
    operations: contract.operations.filter(({ takesAnyMethod }) => !takesAnyMethod),
    pipeline,
    stopping,
    serveDocuments(express, setHeaders) {
      // The development issuer reads its own keys from its file: no token for the API is accepted because it is in this set.
      const jwks = async () => ({ keys: [...(developmentKeys?.keys ?? []), ...(await registryKeys.publicKeys())] });
      serveDocuments(express, setHeaders, context, { jwks, authzen: authzenMetadata(context) });
      serveDirectory(express, setHeaders, context);
      servePages(express, setHeaders, context);
    },
  });
  const hot = contract.operations.filter(({ isHot }) => isHot);
  return below(pathOf(config.publicUrl), createFastPath(pipeline, hot, app));
}

/** Some proxies remove the path of the public URL, others pass it on, and neighbours ask without one: all of them work. */
function below(path: string, listener: RequestListener): RequestListener {
  if (path === '') return listener;
  return (request, response) => {
    if (request.url?.startsWith(`${path}/`)) request.url = request.url.slice(path.length);
    listener(request, response);
  };
}
