import { useEffect } from 'preact/hooks';

/**
 * What has the focus may vanish: the button that opened a dialog, or one that is disabled while it works. A browser then
 * gives the focus to nothing, and a keyboard or a screen reader begins at the top. It goes to the status that replaced it
 * (`data-status`), or else to the content; a button that works again gets it back.
 */
export function useKeptFocus(): void {
  useEffect(() => {
    let last: Element | undefined;
    let isDisabled = false;
    const remember = ({ target }: FocusEvent) => {
      if (target instanceof Element) last = target;
      isDisabled = false;
    };
    const observer = new MutationObserver(() => {
      if (last === undefined) return;
      if (last.isConnected && last.matches(':disabled')) return void (isDisabled = true);
      if (document.activeElement !== document.body || (last.isConnected && !isDisabled)) return;
      const status = document.querySelector('[data-status]') ?? document.getElementById('content');
      const target = last.isConnected ? last : status;
      if (target instanceof HTMLElement) target.focus();
    });
    document.addEventListener('focusin', remember);
    observer.observe(document.body, { subtree: true, childList: true, attributeFilter: ['disabled'] });
    return () => {
      observer.disconnect();
      document.removeEventListener('focusin', remember);
    };
  }, []);
}
