import type { components } from '../http/contract.gen.js';

export type Permission = components['schemas']['Permission'];

/** One request may be sent, now: not later, and not twice. */
export interface Permit extends Permission {
  allowed: true;
  /** It was not sent after all. */
  giveBack(): void;
}

/** Nothing may be sent: `reason` and `message` say why, `helduntil` how long if the webhook asked for a rest. */
export interface Denied extends Permission {
  allowed: false;
}
