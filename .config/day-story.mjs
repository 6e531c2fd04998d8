// What happened at the registry of the pictures: three weeks of an organisation that sends events to webhooks of its own
// and of others. The same for each number of subscriptions, whenever it is told.

/** Wednesday, 10:24 in Amsterdam. */
export const now = Date.parse('2026-11-25T09:24:30Z');

const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000];
const tenant = 'gemeente';

const people = {
  noor: { person: 'noor.bakker@example.nl', name: 'Noor Bakker' },
  daan: { person: 'daan.visser@example.nl', name: 'Daan Visser' },
  sanne: { person: 'sanne.deboer@example.nl', name: 'Sanne de Boer' },
  eva: { person: 'eva.smit@example.com', name: 'Eva Smit' },
};
const admin = (who) => ({ tenant, subscriber: 'case-admin', scopes: ['assent:admin'], ...people[who] });
const consumer = (subscriber, who) => ({ tenant, subscriber, scopes: ['assent:subscribe'], ...people[who] });
const sender = { tenant, subscriber: 'mailroom', scopes: ['assent:deliver'] };

/** Each with the days that its grants last, and the types of its events. */
const origins = [
  [
    'shop.example.com',
    'The web shop: orders, payments and refunds.',
    { requestedrate: 120, isdefault: true },
    30,
    'com.example.order',
    ['created', 'paid', 'shipped', 'cancelled', 'refunded'],
  ],
  [
    'zaken.example.nl',
    'Cases: opened, decided and closed.',
    { requestedrate: 60 },
    10,
    'nl.example.zaak',
    ['aangemaakt', 'besluit', 'afgesloten'],
  ],
  [
    'metrics.example.com',
    'Measurements of every system, each minute.',
    { requestedrate: 600 },
    3,
    'com.example.metric',
    ['recorded', 'alert'],
  ],
  [
    'billing.example.com',
    'Invoices and reminders.',
    { requestedrate: 300 },
    14,
    'com.example.invoice',
    ['sent', 'paid', 'overdue'],
  ],
  [
    'stock.example.com',
    'Stock of all warehouses.',
    { requestedrate: 240, judgement: 'lenient' },
    3,
    'com.example.stock',
    ['changed', 'low'],
  ],
  [
    'identity.example.com',
    'Accounts: created, locked and deleted.',
    { callback: 'never' },
    30,
    'com.example.account',
    ['created', 'locked', 'deleted'],
  ],
  [
    'documents.example.com',
    'Documents that were signed or archived.',
    {},
    90,
    'com.example.document',
    ['signed', 'archived'],
  ],
  [
    'loket.example.nl',
    'Requests at the counter.',
    { requestedrate: 60 },
    7,
    'nl.example.aanvraag',
    ['ontvangen', 'behandeld'],
  ],
  [
    'betalingen.example.nl',
    'Payments to residents.',
    { requestedrate: 60, goneafter: 3 },
    10,
    'nl.example.betaling',
    ['gedaan', 'mislukt'],
  ],
  [
    'meldingen.example.nl',
    'Reports about public space.',
    { requestedrate: 120 },
    2,
    'nl.example.melding',
    ['gedaan', 'opgelost'],
  ],
  ['sensors.example.net', 'Traffic and water levels.', { requestedrate: 1_200 }, 3, 'net.example.reading', ['taken']],
  [
    'legacy.example.net',
    'The mainframe, until it is switched off.',
    { unsupportedrate: 30 },
    30,
    'net.example.record',
    ['changed'],
  ],
];

const everyOrigin = origins.map((_, place) => place);
/** Where grants last long: 10,000 subscriptions need no more renewals than 1,000. */
const calmOrigins = everyOrigin.map((place) => (origins[place][3] < 7 ? 0 : place));

const consent = (rate, more = {}) => ({ as: 'consent', rate, ...more });
const refuse = (as, more = {}) => ({ as, ...more });

/** The newest, which the first screen of the list shows: minutes ago, sink, origin, subscriber, webhook, and the rest. */
const newest = [
  [
    6,
    'hooks.acme.example/orders/events',
    0,
    'orders-team',
    refuse('otherOrigin', { firstBusy: 110 }),
    { callback: 'never', types: [0, 1], filters: [{ prefix: { subject: 'orders/' } }], credential: true },
  ],
  [11, 'api.noord.example/ontvangst', 1, 'zaaksysteem', refuse('cors'), { callback: 'never', types: [0] }],
  [26, 'events.delta.example/v2/callback', 1, 'delta', refuse('silent'), { types: [0, 2] }],
  [
    62,
    'orders.example.com/hooks',
    0,
    'orders-team',
    consent(120),
    {
      callback: 'never',
      types: [0],
      filters: [{ prefix: { subject: 'orders/' } }, { exact: { region: 'eu-west' } }],
      credential: true,
    },
  ],
  [66, 'orders.example.com/hooks/refunds', 0, 'orders-team', consent(120), { types: [4] }],
  [121, 'meldingen.rijn.example/cloudevents', 1, 'rijn', consent(60), {}],
  [126, 'collector.example.net/ingest', 2, 'ops', consent(600), {}],
  [181, 'billing.example.com/events', 0, 'billing', consent(600), { types: [1, 4] }],
  [
    187,
    'crm.example.com/webhooks/assent',
    0,
    'crm',
    consent(60),
    { filters: [{ prefix: { subject: 'orders/' } }, { not: { exact: { region: 'eu-west' } } }] },
  ],
  [301, 'staging.example.com/hooks', 0, 'orders-team', consent(60), { types: [0, 1, 2] }],
  [362, 'loket.oost.example/berichten', 1, 'oost', consent(300), {}],
  [483, 'warehouse.example.com/stock', 0, 'warehouse', consent('*'), { types: [0, 2, 3] }],
  [544, 'search.example.com/index', 0, 'search', consent(1_200), {}],
  [663, 'archive.example.com/cloudevents', 1, 'archief', consent(60), {}],
  [722, 'hooks.kust.example/in', 1, 'kust', refuse('busy', { retryAfter: 7_260 }), {}],
  [843, 'audit.example.com/sink', 0, 'audit', consent(60), {}],
];

const subscribers = [
  'orders-team',
  'zaaksysteem',
  'delta',
  'rijn',
  'ops',
  'billing',
  'crm',
  'oost',
  'warehouse',
  'search',
  'archief',
  'kust',
  'audit',
  'noord',
  'loket',
  'analytics',
];
const hostWords = ['hooks', 'events', 'api', 'ontvangst', 'webhooks', 'inbox', 'notify', 'berichten'];
const domains = [
  'acme',
  'noord',
  'delta',
  'rijn',
  'oost',
  'kust',
  'veld',
  'haven',
  'zuid',
  'west',
  'duin',
  'polder',
  'crm',
  'billing',
].map((each) => `${each}.example`);
const paths = [
  '/hooks',
  '/events',
  '/v1/events',
  '/webhooks/assent',
  '/cloudevents',
  '/in',
  '/ontvangst',
  '/notifications',
  '/orders',
  '/zaken',
  '/v2/callback',
  '/stock',
];
const rates = [60, 60, 60, 120, 120, 240, 300, 600, 1_200, '*'];

/** Of the rest, how each webhook answers, with its share in thousandths. */
const mixture = [
  [14, () => refuse('otherOrigin')],
  [8, () => refuse('cors', { callback: 'never' })],
  [8, () => refuse('noRate')],
  [8, () => refuse('wrongRate')],
  [6, () => refuse('notFound', { callback: 'never' })],
  [6, () => refuse('moved')],
  [6, () => refuse('unauthorized', { callback: 'never' })],
  [10, () => refuse('gone')],
  [10, () => refuse('busy')],
  [8, () => refuse('distrusted')],
  [6, () => refuse('closed')],
  [30, () => refuse('silent', { decides: true })],
  [10, (at) => consent(60, { failsFrom: Math.max(at, now - 3 * day) + 20 * hour, origin: 10 })],
];

/** @param count how many subscriptions there are in the end, about */
export function createStory(count) {
  const random = createRandom(20_261_125);
  const pick = (list) => list[Math.floor(random() * list.length)];
  const beginning = now - 21 * day;
  const webhooks = new Map();
  const distrusted = new Set();
  const actions = [];
  const at = (time, act, more = {}) => actions.push({ at: time, act, ...more });
  const by =
    (who, method, path, body, more = {}) =>
    (player) =>
      call(player, who, method, path, body, more);

  const first = beginning + hour;
  origins.forEach(([name, description, policy, days], place) =>
    at(
      first + place * minute,
      by(admin('noor'), 'POST', '/origins', { name, description, grantseconds: days * 86_400, ...policy }),
    ),
  );

  const registered = [];
  const register = (time, sink, origin, subscriber, webhook, more = {}) => {
    const [name, , , , prefix, kinds] = origins[origin];
    const { types, credential, ...others } = more;
    webhooks.set(sink, { since: time, ...webhook });
    const body = {
      sink,
      protocol: 'HTTP',
      origin: name,
      ...(types && { types: [...new Set(types.map((each) => `${prefix}.${kinds[each % kinds.length]}`))] }),
      ...(credential && {
        sinkcredential: {
          credentialtype: 'ACCESSTOKEN',
          accesstoken: 'an-access-token',
          accesstokenexpiresutc: '2027-01-01T00:00:00Z',
        },
      }),
      ...others,
    };
    const subscription = { sink, origin: name, subscriber, webhook, at: time, id: undefined, endsAt: others.expiresat };
    registered.push(subscription);
    at(
      time,
      async (player) => {
        ({ id: subscription.id } = await call(player, consumer(subscriber), 'POST', '/subscriptions', body));
      },
      { isRegistration: true },
    );
    if (webhook.decides) at(time + (pick([20, 45, 170, 300]) * minute) / 10, (player) => decide(player, sink));
    return subscription;
  };

  for (let place = 0; place < count - newest.length; place += 1) {
    // More of them in the last days, in working hours.
    const age = 22 * hour + random() ** 2 * 19 * day;
    const time = workingHour(now - age, random);
    const domain = pick(domains);
    const host = `${pick(hostWords)}.${domain}`;
    const [owner] = domain.split('.');
    const share = random() * 1_000;
    let sum = 0;
    const chosen = mixture.find(([part]) => (sum += part) > share)?.[1] ?? (() => consent(pick(rates)));
    const {
      callback,
      origin = (place < 1_000 ? everyOrigin : calmOrigins)[Math.floor(random() ** 1.6 * everyOrigin.length)],
      ...webhook
    } = chosen(time);
    const isDistrusted = webhook.as === 'distrusted';
    const name = isDistrusted ? `old-${place}.${pick(domains)}` : host;
    if (isDistrusted) distrusted.add(name);
    const path = `${pick(paths)}${count > 1_000 || random() < 0.3 ? `/${place}` : ''}`;
    const sink = `https://${name}${webhooks.has(`https://${name}${path}`) ? `${path}/${place}` : path}`;
    register(time, sink, origin, subscribers.includes(owner) ? owner : pick(subscribers), webhook, {
      ...(callback && { callback }),
      ...(random() < 0.7 && {
        types: [Math.floor(random() * 5), Math.floor(random() * 5)].slice(0, 1 + Math.floor(random() * 2)),
      }),
      ...(random() < 0.2 && { filters: [{ prefix: { subject: pick(['orders/', 'zaken/', 'eu/', 'nl/']) } }] }),
      ...(random() < 0.1 && { credential: true }),
      ...(random() < 0.04 && {
        expiresat: new Date(Math.max(now + Math.floor(random() * 60 - 6) * day, time + 8 * hour)).toISOString(),
      }),
    });
  }
  const [, , , , , , , , , staging] = newest.map(([minutes, sink, origin, subscriber, webhook, more]) =>
    register(now - minutes * minute, `https://${sink}`, origin, subscriber, webhook, more),
  );
  const collectors = ['/v1', '/batch', '/traces', '/logs', '/alerts'].map((path, place) =>
    register(
      now - 17 * day + place * hour,
      `https://collector.example.net${path}`,
      2,
      pick(['ops', 'analytics']),
      consent(600),
    ),
  );

  const active = registered.filter(({ webhook }) => webhook.as === 'consent');
  const older = active.filter(
    ({ at: time, webhook, endsAt }) =>
      time < now - 4 * day &&
      webhook.failsFrom === undefined &&
      endsAt === undefined &&
      !collectors.some((each) => each.at === time),
  );
  const onSubscription = (subscription, who, method, path, body) => (player) =>
    subscription.id &&
    call(player, who ?? consumer(subscription.subscriber), method, `/subscriptions/${subscription.id}${path}`, body);
  const grantOf = async (player, { sink, origin }) => {
    const query = new URLSearchParams({ sink, origin });
    return (await call(player, admin('noor'), 'GET', `/grants?${query}`))[0];
  };

  // What people did.
  at(
    now - 298 * minute,
    onSubscription(staging, consumer('orders-team', 'eva'), 'POST', '/suspend', {
      reason: 'Maintenance of the staging environment until Monday.',
    }),
  );
  const [one, two, three, four, five, six, seven, eight, nine] = older;
  at(
    now - 3 * day,
    onSubscription(one, undefined, 'POST', '/suspend', { reason: 'We move to a new address this week.' }),
  );
  at(
    now - 30 * hour,
    onSubscription(two, admin('daan'), 'POST', '/suspend', { reason: 'The owner asked for a pause. See CHG-2204.' }),
  );
  at(now - 6 * day, onSubscription(three, undefined, 'POST', '/suspend', { reason: 'Holidays.' }));
  at(now - 2 * day, onSubscription(three, undefined, 'POST', '/resume'));
  at(now - 5 * hour, onSubscription(four, undefined, 'DELETE', ''));
  at(now - 7 * hour, onSubscription(five, consumer(five.subscriber, 'eva'), 'PATCH', '', { subject: 'orders/1042' }));
  at(now - 95 * minute, onSubscription(six, undefined, 'PATCH', '', { requestedrate: 90 }));
  at(now - 20 * hour, async (player) => {
    const { id } = await grantOf(player, seven);
    await call(
      player,
      admin('sanne'),
      'POST',
      `/grants/${id}/revoke`,
      { reason: 'The owner asked us to stop.' },
      { 'Audit-Reference': 'INC-1042' },
    );
  });
  [[eight, 3], [nine, 5], ...older.slice(9, 15).map((each, place) => [each, 12 + place * 11])].forEach(
    ([{ sink, origin }, days], place) =>
      at(
        now - (place + 1) * 7 * hour,
        by(
          admin(place % 2 ? 'daan' : 'noor'),
          'POST',
          '/grants',
          {
            origin,
            sink,
            allowedrate: [120, 300, 600, 60][place % 4],
            expiresat: new Date(now + days * day + place * hour).toISOString(),
            agreement: `Agreement 2026-${170 + place}`,
          },
          { 'Audit-Reference': `CHG-${2_210 + place}` },
        ),
      ),
  );
  at(now - 9 * day, by(admin('sanne'), 'PATCH', '/origins/shop.example.com', { defaultrate: 120 }));
  at(
    now - 26 * hour,
    by(
      admin('daan'),
      'PATCH',
      '/origins/legacy.example.net',
      { judgement: 'lenient' },
      { 'Audit-Reference': 'CHG-2207' },
    ),
  );
  at(
    now - 4 * hour,
    by(
      admin('noor'),
      'PATCH',
      '/origins/identity.example.com',
      { subscriptionrules: [{ name: 'Accounts', subscribers: ['crm', 'audit'], types: ['com.example.account.*'] }] },
      { 'Audit-Reference': 'CHG-2231' },
    ),
  );
  // From then on, systems that change often are asked often.
  Object.entries({ 'metrics.example.com': 6, 'sensors.example.net': 12, 'stock.example.com': 24 }).forEach(
    ([name, hours], place) =>
      at(
        now - 6 * day + place * minute,
        by(
          admin('daan'),
          'PATCH',
          `/origins/${name}`,
          { grantseconds: hours * 3_600 },
          { 'Audit-Reference': 'CHG-2201' },
        ),
      ),
  );
  at(
    now - 5 * day,
    async (player) => {
      const { id } = await call(player, admin('sanne'), 'POST', '/blocks', {
        kind: 'domain',
        value: 'old.example.net',
        reason: 'The domain was sold. See INC-1017.',
      });
      player.oldBlock = id;
    },
    { alone: true },
  );
  at(now - 4 * day, (player) => call(player, admin('sanne'), 'DELETE', `/blocks/${player.oldBlock}`), { alone: true });
  at(
    now - 12 * day,
    by(admin('daan'), 'POST', '/blocks', {
      kind: 'subscriber',
      value: 'legacy-import',
      reason: 'Its client secret was published.',
    }),
  );
  at(
    now - 2 * hour,
    by(
      admin('noor'),
      'POST',
      '/blocks',
      {
        kind: 'host',
        value: 'collector.example.net',
        reason: 'Incident 4711: the collector writes events to a public bucket.',
        expiresat: '2026-11-25T17:00:00Z',
      },
      { 'Audit-Reference': 'INC-4711' },
    ),
  );

  // Deliveries: each hour, and in the last day every few minutes, as people work.
  const load = active.slice(0, 400).map((each) => ({ ...each, weight: 0.2 + random() ** 3 * 6 }));
  const lengthAt = (time) => (time < now - 50 * hour ? 4 * hour : time < now - 25 * hour ? hour : 15 * minute);
  for (let time = now - 8 * day; time < now; time += lengthAt(time)) {
    const minutes = lengthAt(time) / minute;
    const known = load.filter(({ at: since }) => since < time - 10 * minute);
    if (known.length > 0) at(time, (player) => report(player, known, time, minutes, random));
  }
  // After each deployment, webhooks are asked again.
  for (let place = 0; place < 500; place += 1) {
    const time = now - random() * 25 * hour;
    if (random() > curve(time)) continue;
    const subscription = pick(older.slice(20));
    at(time, onSubscription(subscription, undefined, 'POST', '/handshakes'));
  }
  const leased = older.filter(({ webhook, origin }) => webhook.rate !== '*' && origin === 'shop.example.com').slice(-6);
  for (let time = now - 25 * hour; time < now; time += hour) {
    for (const pair of leased) {
      // In one minute, since its whole rate counts as allowed.
      const begin = Math.floor((time + random() * 50 * minute) / minute) * minute + 2 * second;
      for (let turn = 0; turn < 14; turn += 1) {
        at(begin + turn * 4 * second, (player) => lease(player, pair, time, random));
      }
    }
  }

  actions.sort((a, b) => a.at - b.at);
  const hosts = new Set([...webhooks.keys(), 'https://shop.example.com/'].map((sink) => new URL(sink).hostname));
  return {
    beginning,
    actions,
    hosts,
    distrusted,
    addressOf: (host) =>
      `93.184.216.${10 + ([...host].reduce((sum, each) => (sum * 31 + each.charCodeAt(0)) % 997, 7) % 240)}`,
    answer: (sink, headers, time) => answer(webhooks.get(sink) ?? { ...consent(100), since: 0 }, headers, time),
    /** When time alone may have done something. */
    nextTick: (time) => time + (time < now - 6 * day ? 4 * hour : time < now - 30 * minute ? 15 * minute : minute),
  };
}

/** Mulberry32. */
function createRandom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** The same day between 8 and 18 o'clock in Amsterdam, mostly. */
function workingHour(time, random) {
  if (random() < 0.2) return time;
  const midnight = Math.floor(time / day) * day;
  return Math.min(midnight + (7 + random() * 10) * hour, now - 20 * hour);
}

/** How busy an hour is, from 0 to 1. */
function curve(time) {
  const local = ((time + hour) % day) / hour;
  return 0.08 + 0.92 * Math.max(0, Math.sin(((local - 6) / 15) * Math.PI)) ** 0.8 * (local > 6 && local < 21 ? 1 : 0);
}

async function call(player, who, method, path, body, headers = {}) {
  const response = await fetch(`${player.url}/v1${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${await player.token(who)}`,
      ...(method === 'PATCH'
        ? { 'Content-Type': 'application/merge-patch+json' }
        : body && { 'Content-Type': 'application/json' }),
      Prefer: 'respond-async',
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  // Where the sender may not send, it goes on.
  if (response.status === 403 && who === sender) return undefined;
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

/** The owner opens the callback URL. */
async function decide(player, sink) {
  const callback = player.outside.callbacks.get(sink);
  if (callback === undefined) return;
  const { pathname, search } = new URL(callback);
  const response = await fetch(`${player.url}${pathname}${search}`, {
    method: 'POST',
    headers: { 'WebHook-Allowed-Rate': '60' },
  });
  if (!response.ok) throw new Error(`The callback: ${response.status} ${await response.text()}`);
}

async function report(player, pairs, time, minutes, random) {
  const busy = curve(time);
  const outcomes = pairs.flatMap(({ origin, sink, weight }, place) => {
    const count = Math.round(weight * busy * minutes * (0.8 + random() * 0.4));
    if (count === 0) return [];
    const part = (share) => Math.round(count * share * random() * 2);
    const failures =
      place % 11 === 3
        ? [
            [503, 0.02],
            [500, 0.01],
          ]
        : place % 17 === 5
          ? [
              [429, 0.015],
              [400, 0.01],
            ]
          : [];
    return [
      ...failures.map(([statuscode, share]) => ({ origin, sink, statuscode, count: part(share) })),
      { origin, sink, statuscode: place % 3 ? 204 : 200, count },
    ].filter((each) => each.count > 0);
  });
  const isLast = time > now - 16 * minute;
  const [, , held, gone] = pairs;
  if (isLast && held) outcomes.push({ origin: held.origin, sink: held.sink, statuscode: 429, retryafter: 1_800 });
  if (time > now - 9 * hour && time < now - 8.7 * hour && gone)
    outcomes.push({ origin: gone.origin, sink: gone.sink, statuscode: 410 });
  if (outcomes.length > 0) await call(player, sender, 'POST', '/deliveries/outcomes', outcomes.slice(0, 1_000));
}

async function lease(player, { origin, sink, webhook }, time, random) {
  const requests = Math.max(1, Math.round((Number(webhook.rate) / 15) * curve(time) * (0.6 + random() * 0.4)));
  await call(player, sender, 'POST', '/leases', { origin, sink, instance: 'mailroom-1', requests });
}

/** What a webhook returns to OPTIONS. */
function answer(webhook, headers, time) {
  const origin = headers['webhook-request-origin'] ?? '';
  const respond = (status, more = {}) => ({
    status,
    headers: { Date: new Date(time).toUTCString(), Allow: 'OPTIONS, POST', ...more, 'Content-Length': '0' },
    afterMs: 3 + ((origin.length + String(webhook.rate).length * 7) % 9),
  });
  const allow = (allowed, rate) =>
    respond(200, { 'WebHook-Allowed-Origin': allowed, ...(rate && { 'WebHook-Allowed-Rate': String(rate) }) });
  if (webhook.failsFrom !== undefined && time > webhook.failsFrom) return respond(503);
  if (webhook.firstBusy !== undefined && time < webhook.since + webhook.firstBusy * second) {
    return respond(503, { 'Retry-After': String(webhook.firstBusy) });
  }
  // An owner who has consented keeps to it.
  if (webhook.decides && time > webhook.since + hour) return allow(origin, 60);
  switch (webhook.as) {
    case 'consent':
      return allow(origin, webhook.rate);
    case 'otherOrigin':
      return allow('partner.example.net', 120);
    case 'cors':
      return respond(204, { 'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Methods': 'POST, OPTIONS' });
    case 'silent':
      return respond(200);
    case 'noRate':
      return allow(origin);
    case 'wrongRate':
      return allow(origin, '100/min');
    case 'notFound':
      return respond(404);
    case 'moved':
      return respond(301, { Location: '/v2/hooks' });
    case 'unauthorized':
      return respond(401, { 'WWW-Authenticate': 'Bearer' });
    case 'gone':
      return respond(410);
    case 'busy':
      return respond(503, { ...(webhook.retryAfter && { 'Retry-After': String(webhook.retryAfter) }) });
    default:
      return 'closed';
  }
}
