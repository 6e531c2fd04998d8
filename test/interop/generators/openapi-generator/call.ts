// What a consumer does, one step after the other: the same as Main.java.
import { Configuration, ProblemFromJSON, ResponseError, SubscriptionsApi } from './typescript-fetch';

declare const process: { env: Record<'REGISTRY' | 'LATER' | 'TOKEN' | 'TYPE' | 'SINK' | 'ID', string> };
const { REGISTRY, LATER, TOKEN, TYPE, SINK, ID: id } = process.env;
const connect = (basePath: string) => new SubscriptionsApi(new Configuration({ basePath, accessToken: TOKEN }));
const [registry, later] = [connect(REGISTRY), connect(LATER)];
const told: Record<string, unknown> = {};

/** A step that fails has the body of the response as its result, or the exception. */
async function step(name: string, take: () => Promise<unknown>) {
  try {
    told[name] = await take();
  } catch (failure) {
    told[name] = { failure: failure instanceof ResponseError ? await failure.response.text() : String(failure) };
  }
}

async function pages() {
  const ids: string[] = [];
  for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
    const page = await registry.listSubscriptionsRaw({ limit: 1, cursor });
    ids.push(...(await page.value()).map((subscription) => subscription.id));
    const [, next] = /[?&]cursor=([^&>]+)[^>]*>; *rel="next"/.exec(page.raw.headers.get('link') ?? '') ?? [];
    cursor = next === undefined ? undefined : decodeURIComponent(next);
  }
  return ids;
}

async function call() {
  await step('register', async () => {
    const subscriptionRegistration = { sink: SINK, protocol: 'HTTP', types: [TYPE] };
    return (await registry.createSubscription({ subscriptionRegistration, prefer: 'wait=10' })).status;
  });
  await step('read', async () => {
    const { status, statusdetails } = await registry.getSubscription({ id });
    return [status, statusdetails.allowedrate];
  });
  await step('send back', async () => {
    const subscriptionRequest = { ...(await registry.getSubscription({ id })), subject: 'changed' };
    return (await registry.replaceSubscription({ id, subscriptionRequest })).subject;
  });
  await step('pages', pages);
  await step('unknown value', async () => (await later.getSubscription({ id })).status);
  await step('problem', async () => {
    try {
      return await registry.getSubscription({ id: 'unknown' });
    } catch (failure) {
      if (failure instanceof ResponseError) return ProblemFromJSON(await failure.response.json()).code;
      throw failure;
    }
  });
  console.log(JSON.stringify(told));
}

void call();
