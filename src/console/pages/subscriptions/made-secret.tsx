import { KeyRound } from 'lucide';
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
