import { OneSubscription } from './subscription.js';
import { SubscriptionList } from './subscription-list.js';

/** All of them, or the one that the place names. */
export function Subscriptions({ id }: { id?: string | undefined }) {
  return id === undefined ? <SubscriptionList /> : <OneSubscription id={id} />;
}
