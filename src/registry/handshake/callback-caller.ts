/** What is known of a call of a callback URL before its key is looked at. */
interface Call {
  isPost: boolean;
  /** By lower-case name. */
  header: Readonly<Record<string, string | undefined>>;
  /** It prefers `text/html`. */
  prefersPage: boolean;
  /** It is a form that allows or refuses. */
  hasDecision: boolean;
}

/**
 * Who calls a callback URL. A program decides (webhook specification, section 4.1.3). A person decides by the form of the
 * page. The others decide nothing: nobody opened the link, or another page sent the form.
 */
export type Caller = 'program' | 'person' | Bystander;
export type Bystander = 'prefetch' | 'preview' | 'embedded' | 'foreign_form';

/** What robots that open links in chats and mails call themselves. Nearly all name a page about themselves. CUBOT makes telephones. */
const robots =
  /(?<!\bcu)bot\b|crawl|spider|preview|unfurl|\+https?:\/\/|facebookexternalhit|meta-external|slack-|whatsapp|viber\/|larkurl/i;
/** PowerShell is a program that says it is a browser. */
const browsers = /^mozilla\/(?!.*powershell)/i;

/**
 * Browsers say what they fetch a URL for (Fetch Metadata): only opening it as a page shows the question, and only the form
 * of that page decides. Old browsers, and any over http, do not say it; `Origin` tells their forms apart. Programs set
 * neither header, except that the fetch of Node sends `Sec-Fetch-Mode` alone. A robot that looks like a program is taken
 * for one.
 */
export function callerOf({ isPost, header, prefersPage, hasDecision }: Call, publicUrl: string | undefined): Caller {
  const ahead = [header['sec-purpose'], header['purpose'], header['x-purpose'], header['x-moz']].join(' ');
  if (/prefetch|preview|prerender/i.test(ahead)) return 'prefetch';
  if (header['range'] !== undefined) return 'preview';

  const { 'sec-fetch-site': site, 'sec-fetch-mode': mode, 'sec-fetch-dest': destination, origin } = header;
  const isBrowser = site !== undefined || destination !== undefined;
  if (isBrowser && (mode !== 'navigate' || (destination ?? 'document') !== 'document')) return 'embedded';

  const agent = header['user-agent'] ?? '';
  // No link and no form can set these.
  const hasConsent = header['webhook-allowed-origin'] !== undefined || header['webhook-allowed-rate'] !== undefined;
  const isMute = !isPost && !hasConsent;
  if (isMute && robots.test(agent)) return 'preview';

  const ownOrigin = publicUrl === undefined ? undefined : new URL(publicUrl).origin;
  const isOwnForm =
    (origin === undefined || origin === ownOrigin || (origin === 'null' && site !== undefined)) &&
    (site === undefined || site === 'same-origin');
  if (hasDecision && !isOwnForm) return 'foreign_form';
  if (isBrowser || prefersPage) return 'person';
  if (origin !== undefined) return 'embedded';
  return isMute && browsers.test(agent) ? 'preview' : 'program';
}
