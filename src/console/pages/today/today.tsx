import { route } from '../../app/route.js';
import { isAdmin, isConsumer } from '../../app/session.js';
import { t } from '../../app/text.js';
import { commonTexts } from '../../texts/common.js';
import { todayTexts as texts } from '../../texts/today.js';
import { Activity } from './today-activity.js';
import { Attention } from './today-attention.js';
import { Health } from './today-health.js';

/** What needs attention, for consumers among their own; and for admins how much happens, and whether the registry keeps up. */
export function Today() {
  const maySee = isAdmin.value || isConsumer.value;
  return (
    <>
      <h1>{t(commonTexts.menu[''])}</h1>
      {maySee ? <Attention /> : <p>{t(texts.elsewhere)}</p>}
      {isAdmin.value && <Activity range={route.value.query['range']} />}
      {isAdmin.value && <Health />}
    </>
  );
}
