import type { Problem } from '../app/api.js';
import { t } from '../app/text.js';
import { commonTexts } from '../texts/common.js';
import { SelectField } from './form.js';

/** In seconds. */
export type Overlap = keyof typeof commonTexts.overlaps;
const overlaps: readonly Overlap[] = ['0', '3600', '86400', '604800'];

/** How long what is replaced stays valid beside what replaces it. */
export const OverlapField = (field: {
  label?: string;
  problem: Problem | undefined;
  pointer: string;
  value: Overlap;
  onChange: (seconds: Overlap) => void;
}) => (
  <SelectField
    label={t(commonTexts.overlap)}
    options={overlaps}
    textOf={(seconds) => t(commonTexts.overlaps[seconds])}
    {...field}
  />
);
