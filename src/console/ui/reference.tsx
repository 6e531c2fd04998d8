import { t } from '../app/text.js';
import { commonTexts } from '../texts/common.js';
import { Field } from './field.js';

/** The `Audit-Reference` of a change. */
export function ReferenceField({ value, onInput }: { value: string; onInput: (value: string) => void }) {
  return (
    <Field label={t(commonTexts.reference)} hint={t(commonTexts.referenceHint)}>
      {(attributes) => (
        <input
          {...attributes}
          value={value}
          maxLength={200}
          pattern="[ -~]*"
          title={t(commonTexts.referenceRule)}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

/** The header, if there is a reference. */
export function referenceHeader(reference: string): { 'Audit-Reference'?: string } {
  return reference.trim() === '' ? {} : { 'Audit-Reference': reference.trim() };
}
