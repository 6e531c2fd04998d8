import { announce } from '../app/announce.js';
import { t } from '../app/text.js';
import { commonTexts } from '../texts/common.js';

/** Text to take along, in a box that scrolls, with a button that copies it. */
export function Copyable({ text, label }: { text: string; label: string }) {
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    announce(t(commonTexts.copied));
  };
  return (
    <div class="copyable">
      <pre tabIndex={0} aria-label={label}>
        <code>{text}</code>
      </pre>
      {window.isSecureContext && (
        <button type="button" onClick={() => void copy()}>
          {t(commonTexts.copy)}
        </button>
      )}
    </div>
  );
}
