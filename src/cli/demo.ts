import { setTimeout as sleep } from 'node:timers/promises';
import { setScene, type ApiResponse, type Scene } from './demo-scene.js';
import { createNarrator, type Narrator } from './narrate.js';

export interface Act {
  title: string;
  /** Throws an Error for people if something does not go as told. */
  play(scene: Scene, tell: Narrator, signal: AbortSignal): Promise<void>;
}

const origin = 'eventemitter.example.com';

interface SubscriptionBody {
  id: string;
  status: string;
  statusdetails: { reason: string; message: string; advice?: string; next?: string; allowedrate?: number };
}

/** Each act is real traffic, and each sentence that is `kept` was checked. */
export const story: readonly Act[] = [
  {
    title: 'An admin registers the sending system',
    async play(scene, tell) {
      const body = { name: origin, isdefault: true, requestedrate: 120 };
      tell.request('POST', '/v1/origins', body);
      const answer = await scene.ask('assent:admin', 'POST', '/v1/origins', body);
      tell.answer(answer.status, undefined);
      keep(tell, answer.status === 201, 'The origin is registered; handshakes for it ask for 120 requests a minute.');
    },
  },
  {
    title: 'A consumer subscribes a webhook, which consents at once',
    async play(scene, tell) {
      const sink = `${scene.webhookUrl}/events`;
      const subscription = await subscribe(scene, tell, { types: ['com.example.order.created'], sink });
      tell.say('Before it answered, the registry asked the webhook. This went over the wire:');
      const exchange = scene.exchanges.at(-1);
      if (exchange) tell.wire(exchange.asked, exchange.answered);
      keep(tell, scene.exchanges.length === 1 && exchange?.method === 'OPTIONS', 'The webhook was asked once.');
      keep(
        tell,
        exchange?.asked.includes(`\nWebHook-Request-Origin: ${origin}\n`) === true,
        'The question names the sending system.',
      );
      keep(tell, subscription.status === 'active', 'The subscription is active, in one request.');
      keep(tell, subscription.statusdetails.allowedrate === 100, 'The rate is the one that the webhook gave.');
    },
  },
  {
    title: 'The grant is on record',
    async play(scene, tell) {
      const [grant] = await grantsOf(scene, tell, `${scene.webhookUrl}/events`);
      keep(tell, grant?.['state'] === 'live' && grant['basis'] === 'response', 'It is live and based on the answer.');
    },
  },
  {
    title: 'The delivery system looks up whether it may send',
    async play(scene, tell) {
      const { body } = await askPermission(scene, tell, `${scene.webhookUrl}/events`);
      keep(tell, body['allowed'] === true && body['allowedrate'] === 100, 'It may, 100 times a minute.');
      const other = await askPermission(scene, tell, `${scene.webhookUrl}/nobody-asked`);
      keep(tell, other.body['reason'] === 'no_grant', 'It may not send to an address that never agreed.');
    },
  },
  {
    title: 'Another webhook decides later, by the callback',
    async play(scene, tell, signal) {
      const subscription = await subscribe(scene, tell, { sink: `${scene.webhookUrl}/later` });
      const exchange = scene.exchanges.findLast(({ callback }) => callback !== undefined);
      if (exchange) tell.wire(exchange.asked, exchange.answered);
      tell.say('It is asked once more without the callback, and keeps its answer back again.');
      keep(tell, subscription.status === 'pending', 'A 200 without WebHook headers is no consent: it is pending.');
      const url = exchange?.callback ?? '';
      tell.say('Its owner calls the URL of WebHook-Request-Callback, and allows a lower rate.');
      tell.request('POST', `${url.replace(/key=.*/, 'key=...')}  WebHook-Allowed-Rate: 30`);
      const status = await scene.callBack(url, { 'WebHook-Allowed-Rate': '30' });
      tell.answer(status, undefined);
      keep(tell, status === 200, 'The callback is taken.');
      const present = await follow(scene, subscription.id, (now) => now.status === 'active', signal);
      keep(tell, present.statusdetails.allowedrate === 30, 'The subscription is active with 30 requests a minute.');
      const forged = await scene.callBack(url.replace(/key=.*/, 'key=guessed'), {});
      keep(tell, forged === 404, 'A guessed key is answered 404.');
    },
  },
  {
    title: 'A webhook that allows somebody else only',
    async play(scene, tell) {
      const { status, statusdetails } = await subscribe(scene, tell, { sink: `${scene.webhookUrl}/other` });
      const exchange = scene.exchanges.at(-1);
      if (exchange) tell.wire(exchange.asked, exchange.answered);
      keep(tell, status === 'refused' && statusdetails.reason === 'origin_mismatch', 'It is refused, and says why.');
      keep(tell, statusdetails.advice !== undefined, 'The owner is told what to change.');
    },
  },
  {
    title: 'Nobody answers, and an address that may not be called',
    async play(scene, tell, signal) {
      const subscription = await subscribe(scene, tell, { sink: `${scene.silentUrl}/events` });
      keep(tell, subscription.status === 'pending', 'The host hung up. It is asked again after a pause.');
      const last = await follow(scene, subscription.id, (now) => now.status !== 'pending', signal);
      tell.answer(200, brief(last));
      keep(tell, last.status === 'unreachable', 'After the last attempt it is unreachable, which is no refusal.');

      const body = { protocol: 'HTTP', sink: 'https://169.254.169.254/latest/meta-data' };
      tell.request('POST', '/v1/subscriptions', body);
      const answer = await scene.ask('assent:subscribe', 'POST', '/v1/subscriptions', body);
      const { code, faults } = answer.body as { code: string; faults: unknown };
      tell.answer(answer.status, { code, faults });
      keep(
        tell,
        answer.status === 400,
        'An address that belongs to no webhook is refused before anything is stored or sent.',
      );
    },
  },
  {
    title: 'An admin takes the first permission back',
    async play(scene, tell) {
      const sink = `${scene.webhookUrl}/events`;
      const [grant] = await grantsOf(scene, tell, sink);
      const path = `/v1/grants/${String(grant?.['id'])}/revoke`;
      const body = { reason: 'The owner of the webhook asked for it.' };
      tell.request('POST', path, body);
      const answer = await scene.ask('assent:admin', 'POST', path, body);
      tell.answer(answer.status, undefined);
      keep(tell, answer.status === 200, 'The grant is revoked.');
      const after = await askPermission(scene, tell, sink);
      keep(tell, after.body['reason'] === 'revoked', 'From now on the delivery system may not send there.');
    },
  },
];

function keep(tell: Narrator, isSo: boolean, sentence: string): void {
  if (!isSo) throw new Error(`This did not hold: ${sentence}`);
  tell.kept(sentence);
}

async function subscribe(scene: Scene, tell: Narrator, definition: object): Promise<SubscriptionBody> {
  const body = { protocol: 'HTTP', ...definition };
  tell.request('POST', '/v1/subscriptions', body);
  const answer = await scene.ask('assent:subscribe', 'POST', '/v1/subscriptions', body);
  const subscription = answer.body as SubscriptionBody;
  tell.answer(answer.status, answer.status === 201 ? brief(subscription) : answer.body);
  if (answer.status !== 201) throw new Error(`The subscription was answered with ${answer.status}.`);
  return subscription;
}

function brief({ status, statusdetails }: SubscriptionBody) {
  const { reason, message, advice, next } = statusdetails;
  return { status, reason, message, ...(advice === undefined ? {} : { advice }), next };
}

/** Reads the subscription again and again; the signal ends a story that does not go on. */
async function follow(scene: Scene, id: string, until: (now: SubscriptionBody) => boolean, signal: AbortSignal) {
  for (;;) {
    const { body } = await scene.ask('assent:subscribe', 'GET', `/v1/subscriptions/${id}`);
    if (until(body as SubscriptionBody)) return body as SubscriptionBody;
    await sleep(100, undefined, { signal });
  }
}

async function askPermission(scene: Scene, tell: Narrator, sink: string) {
  const query = new URLSearchParams({ origin, sink });
  tell.request('GET', `/v1/permissions?origin=${origin}&sink=${sink}`);
  const answer = await scene.ask('assent:deliver', 'GET', `/v1/permissions?${query.toString()}`);
  const { origin: _origin, sink: _sink, ...told } = answer.body as Record<string, unknown>;
  tell.answer(answer.status, told);
  return answer as ApiResponse & { body: Record<string, unknown> };
}

async function grantsOf(scene: Scene, tell: Narrator, sink: string): Promise<Array<Record<string, unknown>>> {
  tell.request('GET', `/v1/grants?sink=${sink}`);
  const answer = await scene.ask('assent:admin', 'GET', `/v1/grants?sink=${encodeURIComponent(sink)}`);
  const grants = answer.body as Array<Record<string, unknown>>;
  const told = ['state', 'basis', 'allowedorigin', 'allowedrate', 'requestedrate', 'expiresat'] as const;
  tell.answer(answer.status, Object.fromEntries(told.map((name) => [name, grants[0]?.[name]])));
  return grants;
}

const limitMs = 55_000;

/**
 * Plays the story on this machine with real traffic: a registry with an embedded database in a temporary folder, and
 * webhooks that it asks over HTTPS. Resolves to the exit code: 0 only if every step went as it says.
 */
export async function runDemo(): Promise<number> {
  const { stdout: output, env: environment } = process;
  const tell = createNarrator({
    write: (text) => void output.write(text),
    coloured: output.isTTY && !environment['NO_COLOR'],
  });
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort(new Error('It was interrupted.'));
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  // A reader that goes away, as `head` does, is no reason to leave a folder behind.
  const unread = () => interrupted.abort(new Error('Nobody reads the output any more.'));
  output.on('error', unread);
  const tooLate = setTimeout(() => interrupted.abort(new Error(`It took longer than ${limitMs} ms.`)), limitMs);
  const { signal } = interrupted;

  const ends: Array<() => Promise<void>> = [];
  let place = 'Setting the scene';
  let code = 0;
  let complaints: readonly string[] = [];
  const startedAt = performance.now();
  try {
    tell.title('Assent: who may send where, and how fast');
    const scene = await setScene(environment, signal, (end) => void ends.push(end));
    complaints = scene.complaints;
    tell.fact('registry', `${scene.url}, callbacks through ${scene.publicUrl}`);
    tell.fact('webhook', `${scene.webhookUrl}, a real one, with a certificate of its own`);
    tell.fact('data', `${scene.folder}, removed at the end`);
    for (const [index, act] of story.entries()) {
      place = `Step ${index + 1}, "${act.title}"`;
      tell.step(index + 1, act.title);
      signal.throwIfAborted();
      await act.play(scene, tell, signal);
    }
    place = 'Stopping';
  } catch (error) {
    code = 1;
    const reason = signal.aborted ? (signal.reason as Error) : error;
    tell.failed(`${place}: ${reason instanceof Error ? reason.message : String(reason)}`);
    for (const complaint of complaints) output.write(complaint);
  }
  for (const end of ends.reverse()) {
    await end().catch((error: unknown) => {
      code = 1;
      tell.failed(`Stopping: ${error instanceof Error ? error.message : String(error)}`);
    });
  }
  clearTimeout(tooLate);
  process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  output.off('error', unread);
  if (code === 0) {
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    tell.title(`All ${story.length} steps went as told, in ${seconds} s. Everything is stopped and removed.`);
  }
  return code;
}
