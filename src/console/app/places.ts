import { user } from './session.js';

const [admin, consumer, sender] = ['assent:admin', 'assent:subscribe', 'assent:deliver'];

/** By the first segment of its place: the scopes of which a token needs one. The registry is the judge. */
const scopesOf: Readonly<Record<string, readonly string[]>> = {
  '': [admin, consumer],
  subscriptions: [admin, consumer],
  register: [admin, consumer],
  playground: [admin, consumer, sender],
  grants: [admin, sender],
  'new-grant': [admin],
  origins: [admin, consumer, sender],
  'new-origin': [admin],
  blocks: [admin, 'assent:block'],
  'new-block': [admin, 'assent:block'],
  audit: [admin, 'assent:audit'],
  feed: [admin, consumer, sender],
};

/** Empty if the page is for this token. */
export function missingScopes(page: string): readonly string[] {
  const scopes = Object.hasOwn(scopesOf, page) ? (scopesOf[page] ?? []) : [];
  return scopes.some((scope) => user.value?.scopes.includes(scope)) ? [] : scopes;
}
