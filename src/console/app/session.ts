import { computed, signal } from '@preact/signals';
import { href, replace } from './route.js';

/** What the console knows of its user. The registry verifies the token with each request; this only reads it. */
interface Session {
  token: string;
  tenant: string;
  client: string;
  scopes: readonly string[];
  /** Milliseconds since 1970. */
  expiresAt: number;
}

const stored = 'assent.token';

/** In memory only, unless the user keeps it for this tab (`sessionStorage`). Undefined: signed out. */
export const session = signal<Session | undefined>(undefined);
/** The token expired or was refused. What was typed stays on the page, below the form to sign in again. */
export const isExpired = signal(false);

/** It ends within a minute, unless it is renewed. */
export const endsSoon = signal(false);

export const isAdmin = computed(() => has('assent:admin'));
export const isConsumer = computed(() => has('assent:subscribe'));
export const isSender = computed(() => has('assent:deliver'));
export const isOperator = computed(() => has('assent:block'));
export const readsEveryTenant = computed(() => has('assent:audit'));
export const readsAudit = computed(() => has('assent:admin') || has('assent:audit'));

function has(scope: string): boolean {
  return session.value?.scopes.includes(scope) ?? false;
}

/** Undefined for a text that is no JWT. */
export function readToken(token: string): Session | undefined {
  try {
    const [, body = ''] = token.trim().split('.');
    const bytes = Uint8Array.from(atob(body.replaceAll('-', '+').replaceAll('_', '/')), (each) => each.charCodeAt(0));
    const claims = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
    const scope = claims['scope'] ?? claims['scp'];
    return {
      token: token.trim(),
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

export function signIn(next: Session, isKept: boolean): void {
  session.value = next;
  isExpired.value = false;
  if (isKept) sessionStorage.setItem(stored, next.token);
  endsSoon.value = false;
  clearTimeout(timer);
  clearTimeout(soonTimer);
  const leftMs = next.expiresAt - Date.now();
  timer = setTimeout(expire, Math.min(leftMs, longestTimerMs));
  soonTimer = setTimeout(() => (endsSoon.value = true), Math.min(leftMs - soonMs, longestTimerMs));
}

export function signOut(): void {
  clearTimeout(timer);
  clearTimeout(soonTimer);
  endsSoon.value = false;
  sessionStorage.removeItem(stored);
  session.value = undefined;
  isExpired.value = false;
}

/** Also when the registry refuses the token. */
export function expire(): void {
  if (session.value !== undefined) isExpired.value = true;
}

/** A link that `assent console` printed, or the token that this tab kept. The address loses the token at once. */
export function restore(): void {
  const { token } = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  if (token !== undefined) replace(href(''));
  const found = readToken(token ?? sessionStorage.getItem(stored) ?? '');
  if (found !== undefined && found.expiresAt > Date.now()) signIn(found, token === undefined);
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
  /** Prints a link that signs in, on the machine of a development registry. */
  developmentCommand?: string;
  issuers: readonly Issuer[];
}

export const consoleSettings = JSON.parse(document.getElementById('settings')?.textContent ?? '{}') as ConsoleSettings;
