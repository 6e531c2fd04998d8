import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { parseIp, parseNetwork } from '../../base/formats/ip-address.js';
import { isUriReference } from '../../base/formats/uri.js';
import { isName } from '../../base/formats/name.js';
import { textIn } from '../../base/texts/text.js';
import { parseOriginName } from '../../consent/origin.js';
import { isReservedHeader } from '../../outbound/reserved-header.js';
import { digestOf, type CallerEntry, type Network } from './callers.js';

const shortestSecret = 16;
const listOf = <T extends z.ZodType>(one: T) =>
  z.union([one.transform((value) => [value]), z.array(one).min(1, 'must not be empty')]);

const origin = z.string('must be a text').transform((value, context) => {
  const parsed = parseOriginName(value);
  if (parsed.ok) return parsed.name;
  context.addIssue({ code: 'custom', message: `is no origin: ${textIn(parsed.detail, 'en')}` });
  return z.NEVER;
});

/** SHA-256 in hexadecimal. That of no text at all would let in every request with an empty password. */
const secret = z
  .string('must be a text')
  .regex(/^[0-9a-f]{64}$/i, 'must be the SHA-256 of the secret: 64 hexadecimal digits')
  .transform((value) => Buffer.from(value, 'hex'))
  .refine((value) => !value.equals(digestOf('')), 'is the SHA-256 of an empty text');

/** The secret itself, without the line break at its end. */
const secretFile = z.string('must be a text').transform((path, context) => {
  try {
    const text = readFileSync(path, 'utf8').trim();
    if (text.length >= shortestSecret && !/\s/.test(text)) return digestOf(text);
    context.addIssue({
      code: 'custom',
      message: `must be a file with at least ${shortestSecret} characters, no blanks`,
    });
  } catch (error) {
    context.addIssue({ code: 'custom', message: `cannot be read: ${(error as NodeJS.ErrnoException).code}` });
  }
  return z.NEVER;
});

interface NamedNetwork {
  text: string;
  contains: Network;
}

/** A network, or one address. */
const network = z.string('must be a text').transform((value, context): NamedNetwork => {
  const text = value.includes('/') ? value : `${value}/${value.includes(':') ? 128 : 32}`;
  const contains = parseNetwork(text);
  if (contains !== undefined) return { text, contains };
  context.addIssue({ code: 'custom', message: 'must be a network like 10.0.0.0/8 or fd00::/8' });
  return z.NEVER;
});

/** In lower case. With an underscore, CGI and its like would read X_Team as the X-Team that the subscription sets. */
const headerName = z
  .string('must be a text')
  .regex(/^[a-z0-9-]+$/i, 'must be the name of a header, in letters, digits and hyphens')
  .toLowerCase();

const isOfSender = (name: string): boolean => !isReservedHeader(name) && !name.startsWith('assent-');
const notOfSender = 'is a header that the event, the connection or the egress sets';
const header = headerName.refine(isOfSender, notOfSender);
/** The id of Standard Webhooks does not reach the webhook as it is, but it is one. */
const idHeader = headerName.refine((name) => name === 'webhook-id' || isOfSender(name), notOfSender);

const event = z.strictObject(
  {
    source: z.string('must be a text').refine((text) => text !== '' && isUriReference(text), 'must be a URI reference'),
    type: z.string('must be a text').regex(/^\P{Cc}+$/u, 'must be a text without control characters'),
    idheader: idHeader.optional(),
  },
  {
    error: ({ code, keys }) =>
      code === 'unrecognized_keys' ? `has no member ${keys.join(', ')}` : 'must be an object with source and type',
  },
);

const caller = z.strictObject(
  {
    name: z.string('must be a text').refine((value) => isName(value), 'must be a name of visible characters'),
    origins: z.array(origin, 'must be a list').min(1, 'must not be empty'),
    secret: listOf(secret).optional(),
    secretfile: listOf(secretFile).optional(),
    networks: z.array(network, 'must be a list').min(1, 'must not be empty').optional(),
    headers: z.array(header, 'must be a list').optional(),
    event: event.optional(),
  },
  {
    error: ({ code, keys }) =>
      code === 'unrecognized_keys' ? `has no member ${keys.join(', ')}` : 'must be an object with name and origins',
  },
);

const list = z.array(caller, 'must be a list of callers');

type ReadCallers = { ok: true; entries: CallerEntry[] } | { ok: false; faults: string[] };

/** The list of callers as JSON. Each fault is the rest of a sentence that begins with the name of the setting. */
export function readCallers(text: string): ReadCallers {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { ok: false, faults: ['must be JSON'] };
  }
  const { data, error } = list.safeParse(json);
  if (data === undefined) {
    // Of an entry that has one of two forms, each fault stands below the one of both.
    const all = error.issues.flatMap((issue) =>
      issue.code === 'invalid_union' && issue.errors[0]?.length
        ? issue.errors[0].map((one) => ({ ...one, path: [...issue.path, ...one.path] }))
        : [issue],
    );
    return {
      ok: false,
      faults: all.map(({ path, message }) => [...(path.length > 0 ? [`(${path.join('.')})`] : []), message].join(' ')),
    };
  }
  const named = data.map(({ origins, secret = [], secretfile = [], networks = [], headers = [], event, ...caller }) => {
    const secrets = [...secret, ...secretfile];
    return { ...caller, origins: [...new Set(origins)], secrets, networks, headers: new Set(headers), event };
  });
  const faults = [...named.entries()].flatMap(([at, one]) => [
    ...faultsOf(one),
    ...named.slice(0, at).flatMap((other) => contradictions(one, other)),
  ]);
  if (faults.length > 0) return { ok: false, faults };
  return {
    ok: true,
    entries: named.map(({ networks, ...one }) => ({ ...one, networks: networks.map(({ contains }) => contains) })),
  };
}

interface Named {
  name: string;
  origins: string[];
  secrets: Buffer[];
  networks: NamedNetwork[];
}

function faultsOf({ name, origins, secrets, networks }: Named): string[] {
  if (secrets.length > 0) return [];
  if (networks.length === 0) return [`(${name}) needs a secret or networks`];
  return [
    ...(origins.length > 1 ? [`(${name}) has several origins: without a secret, a caller has one`] : []),
    ...(networks.some(({ text }) => text.endsWith('/0')) ? [`(${name}) is every address: give it a secret`] : []),
  ];
}

function contradictions(one: Named, other: Named): string[] {
  const isSameSecret = one.secrets.some((secret) => other.secrets.some((each) => each.equals(secret)));
  const isAmbiguous =
    one.secrets.length === 0 &&
    other.secrets.length === 0 &&
    one.networks.some((network) => other.networks.some((each) => overlap(network, each)));
  return [
    ...(one.name === other.name ? [`has the name ${one.name} twice`] : []),
    ...(isSameSecret ? [`(${other.name}, ${one.name}) have the same secret`] : []),
    ...(isAmbiguous ? [`(${other.name}, ${one.name}) have networks in common: give one of them a secret`] : []),
  ];
}

function overlap(one: NamedNetwork, other: NamedNetwork): boolean {
  const [first, second] = [one, other].map(({ text }) => parseIp(text.split('/')[0] ?? ''));
  return (first !== undefined && other.contains(first)) || (second !== undefined && one.contains(second));
}
