import { route } from '../../app/route.js';
import { t } from '../../app/text.js';
import { commonTexts } from '../../texts/common.js';
import { grantsTexts as texts } from '../../texts/grants.js';
import { GrantList, webhookHref } from '../grants/grant-list.js';
import { WebhookPair } from './webhook-pair.js';

/** `#/webhooks`, and one pair: `#/webhooks?origin=…&sink=…`. */
export function Webhooks() {
  const { origin, sink } = route.value.query;
  if (origin !== undefined && sink !== undefined) {
    return <WebhookPair key={JSON.stringify([origin, sink])} origin={origin} sink={sink} />;
  }
  return (
    <>
      <h1>{t(commonTexts.menu.webhooks)}</h1>
      <p>{t(texts.webhooksLead)}</p>
      <GrantList sortedBy="sink" linkTo={webhookHref} />
    </>
  );
}
