import { Ban, Check, CircleX, Clock, type IconNode, Pencil, X } from 'lucide';
import type { ComponentChildren } from 'preact';
import { missingScopes } from '../app/places.js';
import { href } from '../app/route.js';
import { t } from '../app/text.js';
import { happenings } from '../texts/audit.js';
import { Icon } from './icon.js';
import { type Look, Sink } from './value.js';

/** What something is about, as far as it is known. */
export interface Subject {
  sink?: string | undefined;
  origin?: string | undefined;
  /** What is blocked. */
  block?: string | undefined;
  /** The page of the sink or the block. */
  address?: string | undefined;
}

/** By what comes after the dot of a kind, unless the whole kind is here. */
const looks: Record<string, readonly [Look, IconNode] | undefined> = {
  ...Object.fromEntries(
    ['granted', 'live', 'resumed', 'unblocked', 'released', 'lifted', 'verified'].map((name) => [
      name,
      ['good', Check] as const,
    ]),
  ),
  ...Object.fromEntries(
    ['refused', 'unreachable', 'expired', 'unverified', 'lost'].map((name) => [name, ['bad', X] as const]),
  ),
  ...Object.fromEntries(['held', 'expiring', 'suspended'].map((name) => [name, ['open', Clock] as const])),
  ...Object.fromEntries(
    ['revoked', 'ended', 'retired', 'deleted', 'removed', 'key_revoked', 'key_ended', 'certificate_removed'].map(
      (name) => [name, ['off', Ban] as const],
    ),
  ),
  blocked: ['stop', CircleX],
  'block.created': ['stop', CircleX],
};

const mayOpen = (page: string) => missingScopes(page).length === 0;

/** The address of a page, if the user may open it. */
export const addressOf = (page: string, id: string) => (mayOpen(page) ? href(page, id) : undefined);

/** What happened, as a sentence with an icon. A kind that this version does not know is shown as it is. */
export function Happening({ kind, of }: { kind: string; of: Subject }) {
  const [look, icon] = looks[kind] ?? looks[kind.slice(kind.indexOf('.') + 1)] ?? (['off', Pencil] as const);
  const text = Object.hasOwn(happenings, kind) ? happenings[kind] : undefined;
  const { sink, origin, block, address } = of;
  const linked = (name: ComponentChildren) => (address === undefined ? name : <a href={address}>{name}</a>);
  const names: Record<string, ComponentChildren> = {
    sink: sink !== undefined && linked(<Sink sink={sink} />),
    block: block !== undefined && linked(<bdi>{block}</bdi>),
    origin: origin && (mayOpen('origins') ? <a href={href('origins', origin)}>{origin}</a> : origin),
  };
  return (
    <span class={`happening ${look}`}>
      <Icon of={icon} />
      <span>
        {text === undefined ? (
          <>
            <code>{kind}</code> {names['sink'] || names['block'] || names['origin']}
          </>
        ) : (
          t(text)
            .split(/\{(\w+)\}/)
            .map((part, place) => (place % 2 === 0 ? part : names[part] || '…'))
        )}
      </span>
    </span>
  );
}
