import { computed, signal } from '@preact/signals';
import type { Schemas } from '../../kits/client/index.js';
import { root } from './route.js';

/** What the console knows of its user. The registry verifies the token with each request; this only reads it. */
export interface Session {
  token: string;
  /** Who it is, the same after a renewal. */
  identity: string;
  tenant: string;
  client: string;
  scopes: readonly string[];
  /** Milliseconds since 1970. */
  expiresAt: number;
}

/** Each registry of an origin has its own: this tab keeps it, and tabs share it, under its path. */
const name = `assent.session ${root.pathname}`;

/** Undefined: signed out. */
export const session = signal<Session | undefined>(undefined);
/** The token expired or was refused. What was typed stays on the page, below the form to sign in again. */
export const isExpired = signal(false);

/** It ends within a minute, unless it is renewed. */
export const endsSoon = signal(false);

/** A link that signs in as another: the user decides. */
export const linkOffer = signal<Session | undefined>(undefined);
/** Why the last link did not sign in. */
export const linkFault = signal<'unavailable' | 'malformed' | 'past' | undefined>(undefined);

/** Sessions of other tabs that this tab could continue. */
export const otherSessions = signal<readonly Session[]>([]);
/** The other tabs were just asked. */
export const isAskingTabs = signal(false);

export const isAdmin = computed(() => has('assent:admin'));
export const isConsumer = computed(() => has('assent:subscribe'));
export const isSender = computed(() => has('assent:deliver'));
export const isOperator = computed(() => has('assent:block'));
export const readsEveryTenant = computed(() => has('assent:audit'));

function has(scope: string): boolean {
  return user.value?.scopes.includes(scope) ?? false;
}

/** What the registry reads in a token: it knows where each issuer writes what. */
export const caller = signal<(Schemas['Caller'] & { token: string }) | undefined>(undefined);
/** Until the registry has said it, what the token seems to say. */
export const user = computed(() =>
  caller.value !== undefined && caller.value.token === session.value?.token ? caller.value : session.value,
);

/** Undefined for a text that is no JWT. */
export function readToken(token: string): Session | undefined {
  try {
    const [, body = ''] = token.trim().split('.');
    const bytes = Uint8Array.from(atob(body.replaceAll('-', '+').replaceAll('_', '/')), (each) => each.charCodeAt(0));
    const claims = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
    const scope = claims['scope'] ?? claims['scp'];
    return {
      token: token.trim(),
      identity: JSON.stringify(['iss', 'tenant', 'client_id', 'sub'].map((claim) => textOf(claims[claim]))),
      tenant: textOf(claims['tenant']),
      client: textOf(claims['client_id'] ?? claims['sub']),
      scopes: Array.isArray(scope) ? scope.map(String) : textOf(scope).split(' '),
      expiresAt: Number(claims['exp']) * 1_000,
    };
  } catch {
    return undefined;
  }
}

const textOf = (claim: unknown) => (typeof claim === 'string' ? claim : '');

let timer: ReturnType<typeof setTimeout> | undefined;
let soonTimer: ReturnType<typeof setTimeout> | undefined;
const soonMs = 50_000;
const longestTimerMs = 2 ** 31 - 1;

/** What this tab keeps over a reload, and shares. Undefined: the session is of this page alone. */
let shared: string | undefined;

/**
 * `sharing` names the session among tabs: its renewals and its end are theirs, too. The tab keeps it until it is closed
 * (`sessionStorage`). Without it, the session is in the memory of this page only.
 */
export function signIn(next: Session, sharing: string | undefined): void {
  session.value = next;
  isExpired.value = false;
  linkFault.value = undefined;
  shared = sharing;
  if (sharing === undefined) sessionStorage.removeItem(name);
  else sessionStorage.setItem(name, JSON.stringify({ sharing, token: next.token }));
  endsSoon.value = false;
  clearTimeout(timer);
  clearTimeout(soonTimer);
  const leftMs = next.expiresAt - Date.now();
  timer = setTimeout(expire, Math.min(leftMs, longestTimerMs));
  soonTimer = setTimeout(() => (endsSoon.value = true), Math.min(leftMs - soonMs, longestTimerMs));
}

export const newSharing = () => crypto.randomUUID();

/** The same user with a new token, in every tab that shares the session. Another user gets a session of its own. */
export function renew(next: Session): void {
  const isSame = session.value?.identity === next.identity;
  signIn(next, isSame ? shared : newSharing());
  if (shared !== undefined) tell({ kind: 'renewed', sharing: shared, token: next.token });
}

/** In every tab that shares the session. */
export function signOut(): void {
  if (shared !== undefined) tell({ kind: 'ended', sharing: shared });
  forget();
}

function forget(): void {
  clearTimeout(timer);
  clearTimeout(soonTimer);
  endsSoon.value = false;
  sessionStorage.removeItem(name);
  // Drafts, too. The next user has other keys.
  for (const key of Object.keys(sessionStorage)) {
    if (key.startsWith(`assent.draft ${root.pathname}`)) sessionStorage.removeItem(key);
  }
  if (shared !== undefined) heard.delete(shared);
  otherSessions.value = [...heard.values()];
  askedUntil = 0;
  shared = undefined;
  session.value = undefined;
  isExpired.value = false;
  linkOffer.value = undefined;
}

/** Also when the registry refuses the token. */
export function expire(): void {
  if (session.value !== undefined) isExpired.value = true;
}

/**
 * A link that `assent console` printed. Any page can lead here with a token of its own, and what the visitor then does
 * would be another's. So links work where the registry issues them, and never over a session without a question.
 */
export function openLink(token: string): void {
  linkOffer.value = undefined;
  linkFault.value = undefined;
  if (consoleSettings.developmentCommand === undefined) return void (linkFault.value = 'unavailable');
  const found = readToken(token);
  if (found === undefined) return void (linkFault.value = 'malformed');
  if (found.expiresAt <= Date.now()) return void (linkFault.value = 'past');
  if (session.value === undefined || isSame(session.value, found)) signIn(found, newSharing());
  else linkOffer.value = found;
}

/** The session that this tab kept. */
export function restore(): void {
  const { sharing, token } = JSON.parse(sessionStorage.getItem(name) ?? '{}') as { sharing?: string; token?: string };
  const found = readToken(token ?? '');
  if (found !== undefined && sharing !== undefined && found.expiresAt > Date.now()) signIn(found, sharing);
}

type Told =
  | { kind: 'asking' }
  | { kind: 'session'; sharing: string; token: string }
  | { kind: 'renewed'; sharing: string; token: string }
  | { kind: 'ended'; sharing: string };

/** Reaches pages of this origin in this browser, as `sessionStorage` does, and is stored nowhere. */
const tabs = new BroadcastChannel(name);
const tell = (told: Told) => tabs.postMessage(told);
const answersWithinMs = 150;
/** A tab in the background, or on a busy machine. */
const lateAnswersMs = 3_000;
let askedUntil = 0;
/** By their names among tabs. */
const heard = new Map<string, Session>();

tabs.onmessage = ({ data }: MessageEvent<Told>) => {
  if (data.kind === 'asking') {
    if (shared === undefined || session.value === undefined || isExpired.value) return;
    return tell({ kind: 'session', sharing: shared, token: session.value.token });
  }
  if (data.kind === 'ended') {
    heard.delete(data.sharing);
    if (data.sharing === shared) forget();
  } else {
    const found = readToken(data.token);
    if (found === undefined || found.expiresAt <= Date.now()) return;
    heard.set(data.sharing, found);
    if (data.kind === 'renewed' && data.sharing === shared) signIn(found, shared);
  }
  otherSessions.value = [...heard.values()];
  if (!isAskingTabs.value && performance.now() < askedUntil) continueOnly();
};

/** A tab that was just opened continues the session of the others. If they have several, the user chooses. */
export function askTabs(): void {
  isAskingTabs.value = true;
  askedUntil = performance.now() + lateAnswersMs;
  tell({ kind: 'asking' });
  setTimeout(() => {
    isAskingTabs.value = false;
    continueOnly();
  }, answersWithinMs);
}

function continueOnly(): void {
  const [first, ...others] = otherSessions.value;
  if (session.value !== undefined || first === undefined) return;
  if (others.every((other) => isSame(first, other))) continueSession(first);
}

const isSame = (one: Session, other: Session) =>
  one.identity === other.identity && String(one.scopes) === String(other.scopes);

export function continueSession(found: Session): void {
  const [sharing] = [...heard].find(([, each]) => each === found) ?? [];
  signIn(found, sharing ?? newSharing());
}

/** An issuer that the console can sign in with, and what the browser needs of its metadata. */
export interface Issuer {
  issuer: string;
  clientid: string;
  scope: string;
  authorization_endpoint: string;
  token_endpoint: string;
  authorization_response_iss_parameter_supported: boolean;
  id_token_signing_alg_values_supported?: string[];
}

/** What the page that loads the console says about its registry. */
interface ConsoleSettings {
  version: string;
  /** Who runs it, and where they are reached. */
  operator?: string;
  contact?: string;
  /** Prints a link that signs in, on the machine of a development registry. */
  developmentCommand?: string;
  issuers: readonly Issuer[];
}

export const consoleSettings = JSON.parse(document.getElementById('settings')?.textContent ?? '{}') as ConsoleSettings;
