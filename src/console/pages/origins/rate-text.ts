import type { Schemas } from '../../app/api.js';
import { formatNumber, t } from '../../app/text.js';
import { grantsTexts } from '../../texts/grants.js';

/** Requests per minute, in the language of the console. */
export function rateText(rate: Schemas['Rate'] | undefined): string {
  if (rate === undefined) return '';
  return rate === '*' ? t(grantsTexts.noLimit) : formatNumber(rate);
}
