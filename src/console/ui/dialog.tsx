import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { Problem } from '../app/api.js';
import type { Action } from '../app/live.js';
import { t } from '../app/text.js';
import { differences, useVersion, type Version } from '../app/version.js';
import { commonTexts } from '../texts/common.js';
import { Differences, Form, FormButtons, ProblemView } from './form.js';

/** A native modal dialog, open as long as it is drawn. The focus returns to where it was. */
export function Dialog({
  title,
  look,
  isKept = false,
  onClose,
  children,
}: {
  title: string;
  /** A class of the stylesheet. It has no heading to be seen then. */
  look?: string;
  /** Only its own buttons close it, not Escape: something in it would be lost. */
  isKept?: boolean;
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
    <dialog
      ref={dialog}
      class={look}
      aria-labelledby={id}
      onClose={onClose}
      onCancel={(event) => isKept && event.preventDefault()}
      {...{ closedby: isKept ? 'none' : look === undefined ? 'closerequest' : 'any' }}
    >
      <h2 id={id} class={look && 'unseen'}>
        {title}
      </h2>
      {children}
    </dialog>
  );
}

interface ConfirmProps {
  title: string;
  /** What it does. */
  sentence?: string;
  confirm: string;
  action: Action;
  onClose: () => void;
  /** When it was done, in place of closing. */
  onDone?: () => void;
  isDangerous?: boolean;
  /** Something was typed that is not typed again easily. */
  isKept?: boolean;
  /** What is missing or wrong before anything is sent. */
  check?: () => NonNullable<Problem['faults']>;
  /** Pointers of faults that the fields show. */
  shownAt?: readonly string[];
  children?: ComponentChildren;
}

/** A question with a form. `onConfirm` does it; the dialog closes when it was done, and shows why when it was not. */
export function Confirm({
  title,
  sentence,
  confirm,
  action,
  onConfirm,
  onClose,
  onDone = onClose,
  isDangerous = false,
  isKept = false,
  check,
  shownAt = [],
  children,
}: ConfirmProps & { onConfirm: () => Promise<unknown> }) {
  const submit = async () => {
    await onConfirm();
    onDone();
  };
  return (
    <Dialog title={title} isKept={isKept} onClose={onClose}>
      <Form action={action} onSubmit={submit} {...(check && { check })}>
        {sentence !== undefined && <p class="soft">{sentence}</p>}
        {children}
        <ProblemView problem={action.problem} shownAt={shownAt} />
        <FormButtons action={action} submit={confirm} cancel={onClose} isDangerous={isDangerous} />
      </Form>
    </Dialog>
  );
}

/**
 * A question about something that has versions. It is about the version that the user saw when the dialog opened. If that
 * is no longer the present one, the dialog shows what is different, and its button uses the present one.
 */
export function ConfirmChange<T extends object>({
  of,
  read,
  onConfirm,
  children,
  ...props
}: ConfirmProps & {
  of: Version<T>;
  read: () => Promise<Version<T>>;
  onConfirm: (tag: string) => Promise<unknown>;
}) {
  const [different, setDifferent] = useState<ReturnType<typeof differences>>([]);
  const version = useVersion(of, read, (before, now) => setDifferent(differences(before, now)));
  const confirm = version.isOvertaken ? t(commonTexts.problems.usePresent(props.confirm)) : props.confirm;
  return (
    <Confirm {...props} confirm={confirm} onConfirm={() => version.change(onConfirm)}>
      {children}
      <Differences of={different} />
    </Confirm>
  );
}
