import { KeyRound, TriangleAlert } from 'lucide';
import { href } from '../../app/route.js';
import { t } from '../../app/text.js';
import { signingSecretTexts as texts } from '../../texts/signing-secrets.js';
import { Icon } from '../../ui/icon.js';
import { Copyable } from '../../ui/value.js';

/** A secret that the registry made. No request shows it again. */
export function MadeSecret({ secret }: { secret: string }) {
  return (
    <section class="note open" aria-label={t(texts.name)}>
      <Icon of={KeyRound} size={20} />
      <div>
        <h2>{t(texts.copyNow)}</h2>
        <p>{t(texts.once)}</p>
        <Copyable text={secret} label={t(texts.name)} />
      </div>
    </section>
  );
}

/** A secret that the registry made, and that nobody has: the response that showed it did not arrive. */
export function LostSecret({ id }: { id: string }) {
  return (
    <section class="note bad" aria-label={t(texts.name)}>
      <Icon of={TriangleAlert} size={20} />
      <div>
        <h2>{t(texts.lost)}</h2>
        <p>{t(texts.lostHint)}</p>
        <div class="actions">
          <a class="button" href={href('subscriptions', id, { tab: 'settings' })}>
            {t(texts.change)}
          </a>
        </div>
      </div>
    </section>
  );
}
