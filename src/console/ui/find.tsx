import { signal } from '@preact/signals';
import { Search } from 'lucide';
import { useEffect } from 'preact/hooks';
import { t } from '../app/text.js';
import { commonTexts } from '../texts/common.js';
import type { Page } from './finder.js';
import { Icon } from './icon.js';
import { later } from './later.js';

const Finder = later(async () => (await import('./finder.js')).Finder);
const isFinding = signal(false);
const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** Ctrl K and ⌘ K open the search from everywhere, but not from above another dialog. */
export function FindAnything({ pages }: { pages: readonly Page[] }) {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey)
        return;
      event.preventDefault();
      if (document.querySelector('dialog[open]') === null) isFinding.value = true;
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
  return (
    <>
      <button type="button" class="find" aria-keyshortcuts="Control+K Meta+K" onClick={() => (isFinding.value = true)}>
        <Icon of={Search} />
        <span>{t(commonTexts.find.anything)}</span>
        <kbd aria-hidden="true">{isMac ? '⌘ K' : 'Ctrl K'}</kbd>
      </button>
      {isFinding.value && <Finder pages={pages} onClose={() => (isFinding.value = false)} />}
    </>
  );
}
