/**
 * Members of neighbouring products, without case and separators, and what they are called here: CAMARA, Azure Event Grid,
 * Knative, the Dutch Notificaties API, Svix, Stripe and the Subscriptions API of other years. A name that differs from one
 * of ours in nothing else, such as `sinkCredential`, needs no entry.
 */
const neighbours: Readonly<Record<string, string>> = {
  type: 'types',
  eventtype: 'types',
  eventtypes: 'types',
  includedeventtypes: 'types',
  enabledevents: 'types',
  events: 'types',
  filtertypes: 'types',
  topics: 'types',
  subjectbeginswith: 'filters',
  subjectendswith: 'filters',
  advancedfilters: 'filters',
  filter: 'filters',
  kanalen: 'filters',
  url: 'sink',
  uri: 'sink',
  endpoint: 'sink',
  endpointurl: 'sink',
  webhookurl: 'sink',
  callbackurl: 'sink',
  notificationurl: 'sink',
  deliverto: 'sink',
  destination: 'sink',
  auth: 'sinkcredential',
  credential: 'sinkcredential',
  credentials: 'sinkcredential',
  authentication: 'sinkcredential',
  protocolsetting: 'protocolsettings',
  ratelimit: 'requestedrate',
  throttlerate: 'requestedrate',
  expires: 'expiresat',
  expirationtime: 'expiresat',
  expirationtimeutc: 'expiresat',
  subscriptionexpiretime: 'expiresat',
  disabled: 'suspended',
  broker: 'origin',
};

const fold = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '');

/** What an unknown member is called here, if one of these is it. */
export function ownNameOf(name: string, known: readonly string[]): string | undefined {
  const folded = fold(name);
  const same = known.find((each) => fold(each) === folded);
  const wanted = Object.hasOwn(neighbours, folded) ? neighbours[folded] : undefined;
  return same ?? known.find((each) => each === wanted);
}
