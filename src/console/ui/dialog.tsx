import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import type { Action } from '../app/live.js';
import { ProblemView, FormButtons } from './form.js';

/** A native modal dialog, open as long as it is drawn. Escape closes it, and the focus returns to where it was. */
export function Dialog({
  title,
  onClose,
  children,
}: {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={onClose}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

/** A question with a form. `onConfirm` does it; the dialog closes when it was done, and shows why when it was not. */
export function Confirm({
  title,
  confirm,
  action,
  onConfirm,
  onClose,
  isDangerous = false,
  isReady = true,
  shownAt = [],
  children,
}: {
  title: string;
  confirm: string;
  action: Action;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
  isDangerous?: boolean;
  isReady?: boolean;
  /** Pointers of faults that the fields show. */
  shownAt?: readonly string[];
  children?: ComponentChildren;
}) {
  const submit = async (event: Event) => {
    event.preventDefault();
    if (await action.run(onConfirm)) onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        {children}
        <ProblemView problem={action.problem} shownAt={shownAt} />
        <FormButtons action={action} submit={confirm} cancel={onClose} isReady={isReady} isDangerous={isDangerous} />
      </form>
    </Dialog>
  );
}
