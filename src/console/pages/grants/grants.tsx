import { href, route } from '../../app/route.js';
import { isAdmin } from '../../app/session.js';
import { t } from '../../app/text.js';
import { commonTexts } from '../../texts/common.js';
import { grantsTexts as texts } from '../../texts/grants.js';
import { Agreement } from './agreement.js';
import { GrantCard } from './grant-card.js';
import { GrantList } from './grant-list.js';

/** `#/grants`, one of them (`#/grants/ID`), and the form for an agreement (`#/grants?agree=…`). */
export function Grants({ id }: { id?: string | undefined }) {
  const { agree } = route.value.query;
  if (id !== undefined) {
    return (
      <>
        <p>
          <a href={href('grants')}>{t(texts.backToGrants)}</a>
        </p>
        <h1>{t(texts.grant)}</h1>
        <GrantCard id={id} />
      </>
    );
  }
  if (agree !== undefined && isAdmin.value) return <Agreement key={agree} of={agree} />;
  return (
    <>
      <h1>{t(commonTexts.menu.grants)}</h1>
      {isAdmin.value && (
        <p>
          <a class="button" href={href('grants', undefined, { agree: 'new' })}>
            {t(texts.agree)}
          </a>
        </p>
      )}
      <GrantList sortedBy="end" linkTo={(grant) => href('grants', grant.id)} />
    </>
  );
}
