/** What may be between Assent and an application, and how its responses can be told. */
interface Front {
  name: string;
  /** In lower case. */
  header: string;
  value: RegExp;
  /** Only responses that it writes itself have this header: it can say what they mean. Otherwise those that pass have it, too. */
  isOwn?: true;
  /** What a response of its own with one of these statuses is, instead of a decision of the application. */
  means?: { verdict: 'bot_protection' | 'unavailable'; statuses?: readonly number[] };
}

const any = /^/;

/**
 * By what their vendors document. The first that matches counts. HAProxy, Traefik, nginx and Apache are not here: they
 * add nothing to what they write themselves, or the same to everything, and an application may be one of them.
 */
export const fronts: readonly Front[] = [
  {
    name: 'Cloudflare',
    header: 'cf-mitigated',
    value: /^challenge$/i,
    isOwn: true,
    means: { verdict: 'bot_protection' },
  },
  {
    name: 'Vercel',
    header: 'x-vercel-mitigated',
    value: /^(?:challenge|deny)$/i,
    isOwn: true,
    means: { verdict: 'bot_protection' },
  },
  {
    name: 'AWS WAF',
    header: 'x-amzn-waf-action',
    value: /^(?:challenge|captcha)$/i,
    isOwn: true,
    means: { verdict: 'bot_protection' },
  },
  { name: 'DataDome', header: 'x-dd-b', value: /^\d{1,3}$/, isOwn: true, means: { verdict: 'bot_protection' } },
  { name: 'Sucuri', header: 'x-sucuri-block', value: any, isOwn: true, means: { verdict: 'bot_protection' } },
  {
    name: 'Azure App Service',
    header: 'x-ms-forbidden-ip',
    value: any,
    isOwn: true,
    means: { verdict: 'bot_protection', statuses: [403] },
  },
  {
    name: 'Akamai',
    header: 'server',
    value: /^AkamaiGHost$/i,
    isOwn: true,
    means: { verdict: 'bot_protection', statuses: [401, 403] },
  },
  {
    name: 'Azure Application Gateway',
    header: 'server',
    value: /^Microsoft-Azure-Application-Gateway\b/i,
    isOwn: true,
    means: { verdict: 'bot_protection', statuses: [403] },
  },
  {
    name: 'AWS Elastic Load Balancing',
    header: 'server',
    value: /^awselb\//i,
    isOwn: true,
    means: { verdict: 'bot_protection', statuses: [403] },
  },
  {
    name: 'ngrok',
    header: 'ngrok-error-code',
    value: /^ERR_NGROK_6024$/,
    isOwn: true,
    means: { verdict: 'bot_protection' },
  },
  {
    name: 'ngrok',
    header: 'ngrok-error-code',
    value: /^ERR_NGROK_3(?:200|004)$|^ERR_NGROK_8\d+$/,
    isOwn: true,
    means: { verdict: 'unavailable' },
  },
  {
    name: 'ngrok',
    header: 'ngrok-error-code',
    value: any,
    isOwn: true,
    means: { verdict: 'bot_protection', statuses: [401, 403] },
  },
  { name: 'Railway', header: 'x-railway-fallback', value: /^true$/i, isOwn: true, means: { verdict: 'unavailable' } },
  { name: 'Vercel', header: 'x-vercel-error', value: any, isOwn: true },
  { name: 'Amazon API Gateway or AWS Lambda', header: 'x-amzn-errortype', value: any, isOwn: true },
  { name: 'Amazon CloudFront', header: 'x-cache', value: /\bfrom cloudfront$/i },
  { name: 'Amazon CloudFront', header: 'server', value: /^CloudFront$/i, isOwn: true },
  { name: 'Kong', header: 'x-kong-response-latency', value: any, isOwn: true },
  { name: 'Azure Front Door', header: 'x-azure-ref', value: any },
  { name: 'Cloudflare', header: 'server', value: /^cloudflare$/i },
  { name: 'Cloudflare', header: 'cf-ray', value: any },
  { name: 'Imperva', header: 'x-iinfo', value: any },
  { name: 'Imperva', header: 'x-cdn', value: /^(?:imperva|incapsula)$/i },
  { name: 'DataDome', header: 'x-datadome', value: any },
  { name: 'Sucuri', header: 'x-sucuri-id', value: any },
  { name: 'F5 BIG-IP', header: 'server', value: /^big-?ip\b/i },
  { name: 'FortiWeb', header: 'server', value: /^FortiWeb\b/i },
  { name: 'Barracuda', header: 'server', value: /^BarracudaHTTP\b/i },
  { name: 'Vercel', header: 'server', value: /^vercel$/i },
  { name: 'Netlify', header: 'server', value: /^netlify$/i },
  { name: 'Heroku', header: 'via', value: /\b(?:heroku-router|vegur)\b/i },
  { name: 'Heroku', header: 'server', value: /^heroku$/i },
  { name: 'Google Cloud', header: 'server', value: /^Google Frontend$/i },
  { name: 'Google Cloud', header: 'via', value: /\b1\.1 google$/i },
  { name: 'Fastly', header: 'x-served-by', value: /^cache-/i },
  { name: 'Varnish', header: 'via', value: /\bvarnish\b/i },
  { name: 'Fly.io', header: 'server', value: /^Fly\//i },
  { name: 'Render', header: 'rndr-id', value: any },
  { name: 'Railway', header: 'server', value: /^railway-/i },
  { name: 'Kong', header: 'via', value: /\bkong\//i },
  { name: 'Envoy', header: 'server', value: /^(?:istio-)?envoy$/i },
];

/** Those that a response is kept with, in lower case. */
export const frontHeaders: ReadonlySet<string> = new Set(fronts.map(({ header }) => header));

type Named = (header: string) => readonly string[] | undefined;

/** The front that a response names, and the header that does. `valuesOf` gets a name in lower case. */
export function frontOf(valuesOf: Named): { front: Front; evidence: string } | undefined {
  for (const front of fronts) {
    const value = valuesOf(front.header)?.find((each) => front.value.test(each));
    if (value !== undefined) return { front, evidence: `${front.header}: ${value}` };
  }
  return undefined;
}

/** For people. */
export function presentFront(valuesOf: Named): { name: string; isOwn: boolean } | undefined {
  const found = frontOf(valuesOf)?.front;
  return found && { name: found.name, isOwn: found.isOwn === true };
}
