import type { ComponentChildren, PartialInputHTMLAttributes } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import type { Problem } from '../app/api.js';
import { type Action, incomplete, incompleteCode } from '../app/live.js';
import type { differences } from '../app/version.js';
import { t } from '../app/text.js';
import { commonTexts } from '../texts/common.js';
import { Skeleton } from './table.js';

/**
 * What failed, whether it was done, and what to do. Faults that a form shows at its fields (`shownAt`) are left out here.
 */
export function ProblemView({
  problem,
  onRetry,
  isRead = onRetry !== undefined,
  shownAt = [],
}: {
  problem: Problem | undefined;
  onRetry?: () => void;
  /** What failed changes nothing. */
  isRead?: boolean;
  shownAt?: readonly string[];
}) {
  if (problem === undefined) return null;
  const { problems } = commonTexts;
  const isLost = problem.code === 'connection_lost';
  const others = (problem.faults ?? []).filter(({ pointer }) => !shownAt.includes(pointer));
  return (
    <div class="problem" role="alert">
      <p>
        <strong>{isLost ? t(problems.lost) : problem.title}</strong>
      </p>
      {problem.code === 'precondition_failed' ? (
        <p>{t(problems.changedMeanwhile)}</p>
      ) : (
        <p>{isLost ? t(isRead ? problems.lostRead : problems.lostNext) : problem.detail}</p>
      )}
      {others.length > 0 && (
        <ul>
          {others.map(({ pointer, detail }) => (
            <li key={pointer}>
              <code>{pointer}</code> {detail}
            </li>
          ))}
        </ul>
      )}
      {problem.requestid !== '' && (
        <p class="soft">
          {problem.code} · {t(problems.request)} <code>{problem.requestid}</code>
        </p>
      )}
      {onRetry && (
        <button type="button" onClick={onRetry}>
          {t(problems.retry)}
        </button>
      )}
    </div>
  );
}

/** The states of a read: nothing yet, failed, or there. */
export function Loaded<T>({
  of: { data, problem, isLoading, reload },
  children,
}: {
  of: { data: T | undefined; problem: Problem | undefined; isLoading: boolean; reload: () => void };
  children: (data: T) => ComponentChildren;
}) {
  return (
    <>
      <ProblemView problem={problem} onRetry={reload} />
      {data === undefined && isLoading && <Skeleton rows={4} />}
      {data !== undefined && children(data)}
    </>
  );
}

interface FieldProps {
  label: string;
  hint?: ComponentChildren;
  /** The problem of the form, and the place in the request that this field is (`/sink`): its faults are shown here. */
  problem?: Problem | undefined;
  pointer?: string | undefined;
  /** Only for screen readers: something else shows what the field is. */
  isLabelUnseen?: boolean;
  /** Gets the attributes that connect the control with its label, its hint and its faults. */
  children: (attributes: ControlAttributes) => ComponentChildren;
}

export interface ControlAttributes {
  id: string;
  'aria-describedby': string | undefined;
  'aria-invalid': boolean | undefined;
}

export function faultsAt(problem: Problem | undefined, pointer: string | undefined) {
  if (problem === undefined || pointer === undefined) return [];
  return (problem.faults ?? []).filter((fault) => fault.pointer === pointer || fault.pointer.startsWith(`${pointer}/`));
}

/** A labelled control. Its own faults stand below it. */
export function Field({ label, hint, problem, pointer, isLabelUnseen = false, children }: FieldProps) {
  const id = useId();
  const faults = faultsAt(problem, pointer);
  const described = [hint === undefined ? '' : `${id}-hint`, faults.length === 0 ? '' : `${id}-faults`];
  return (
    <div class="field">
      <label for={id} class={isLabelUnseen ? 'unseen' : undefined}>
        {label}
      </label>
      {hint !== undefined && (
        <p class="soft" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {children({
        id,
        'aria-describedby': described.join(' ').trim() || undefined,
        'aria-invalid': faults.length > 0 || undefined,
      })}
      <FaultList of={faults} id={`${id}-faults`} at={pointer} />
    </div>
  );
}

/** Faults, each with its place unless that is `at`. */
export function FaultList({ of, id, at }: { of: FieldFaults; id?: string; at?: string | undefined }) {
  if (of.length === 0) return null;
  return (
    <ul class="faults" id={id}>
      {of.map(({ pointer, detail }) => (
        <li key={pointer}>
          {pointer === at ? '' : <code>{pointer}</code>} {detail}
        </li>
      ))}
    </ul>
  );
}

type Labelled = Omit<FieldProps, 'children'>;
type InputAttributes = Omit<PartialInputHTMLAttributes<HTMLInputElement>, 'label' | 'onInput'> & { type?: string };

/** A field for a line of text, or for what `type` says. What else is given are attributes of the input. */
export function TextField({
  label,
  hint,
  problem,
  pointer,
  onInput,
  ...input
}: Labelled & InputAttributes & { onInput: (value: string) => void }) {
  return (
    <Field label={label} hint={hint} problem={problem} pointer={pointer}>
      {(attributes) => (
        <input {...(input as object)} {...attributes} onInput={({ currentTarget }) => onInput(currentTarget.value)} />
      )}
    </Field>
  );
}

/** A field for one of some values. `none` is the text of a first one that is empty. */
export function SelectField<Value extends string>({
  value,
  options,
  textOf,
  none,
  onChange,
  ...field
}: Labelled & {
  value: string | undefined;
  options: readonly Value[];
  textOf: (option: Value) => string;
  none?: string;
  onChange: (value: Value) => void;
}) {
  return (
    <Field {...field}>
      {(attributes) => (
        <select {...attributes} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value as Value)}>
          {none !== undefined && <option value="">{none}</option>}
          {options.map((option) => (
            <option key={option} value={option}>
              {textOf(option)}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** One of a few values, all of which are shown. */
export function ChoiceField<Value extends string>({
  label,
  value,
  options,
  textOf,
  onChange,
}: {
  label: string;
  value: Value;
  options: readonly Value[];
  textOf: (option: Value) => string;
  onChange: (value: Value) => void;
}) {
  const name = useId();
  return (
    <fieldset class="choices">
      <legend>{label}</legend>
      {options.map((option) => (
        <label key={option} class="chip">
          <input type="radio" class="unseen" name={name} checked={option === value} onChange={() => onChange(option)} />
          {textOf(option)}
        </label>
      ))}
    </fieldset>
  );
}

/** Why something is done. */
export function ReasonField(props: {
  label?: string;
  hint?: string;
  problem: Problem | undefined;
  value: string;
  onInput: (value: string) => void;
}) {
  return (
    <TextField
      label={t(commonTexts.reason)}
      hint={t(commonTexts.reasonHint)}
      pointer="/reason"
      maxLength={500}
      {...props}
    />
  );
}

/** The `Audit-Reference` of a change. */
export function ReferenceField(props: {
  problem?: Problem | undefined;
  value: string;
  onInput: (value: string) => void;
}) {
  return (
    <TextField
      label={t(commonTexts.reference)}
      hint={t(commonTexts.referenceHint)}
      pointer="header/audit-reference"
      maxLength={200}
      pattern="[ -~]*"
      title={t(commonTexts.referenceRule)}
      {...props}
    />
  );
}

/** The header, if there is a reference. */
export function referenceHeader(reference: string): { 'Audit-Reference'?: string } {
  return reference.trim() === '' ? {} : { 'Audit-Reference': reference.trim() };
}

/**
 * A form whose button is always there to be pressed. What is missing then (`check`), or what the registry refuses, stands at
 * its field, and the first such field gets the focus.
 */
export function Form({
  action,
  look,
  check = () => [],
  isKept = false,
  onSubmit,
  children,
}: {
  action: Action;
  /** A class of the stylesheet. */
  look?: string;
  /** What is typed outlives the page. */
  isKept?: boolean;
  check?: () => FieldFaults;
  /** In the action, if nothing is missing. */
  onSubmit: () => Promise<unknown>;
  children: ComponentChildren;
}) {
  const form = useRef<HTMLFormElement>(null);
  const isTyped = useRef(false);
  useEffect(() => {
    const ask = (event: Event) => isTyped.current && !isKept && event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [isKept]);
  useEffect(() => {
    if (action.problem === undefined) return;
    const [fault, problem] = ['[aria-invalid="true"]', '.problem'].map((each) => form.current?.querySelector(each));
    if (fault instanceof HTMLElement) {
      const fold = fault.closest('details');
      if (fold !== null) fold.open = true;
      fault.focus();
    } else problem?.scrollIntoView({ block: 'nearest' });
  }, [action.problem]);
  const submit = async () => {
    const faults = check();
    if (faults.length > 0) throw incomplete(faults);
    await onSubmit();
    isTyped.current = false;
  };
  return (
    <form
      ref={form}
      class={look}
      noValidate
      onInput={() => {
        isTyped.current = true;
        if (action.problem?.code === incompleteCode) action.clear();
      }}
      onSubmit={(event) => {
        event.preventDefault();
        void action.run(submit);
      }}
    >
      {children}
    </form>
  );
}

type FieldFaults = NonNullable<Problem['faults']>;

/** For `check`: the faults of fields that have to be filled in, by their pointer: label and text. */
export function missing(fields: Readonly<Record<string, readonly [label: string, text: string]>>): FieldFaults {
  return Object.entries(fields)
    .filter(([, [, text]]) => text.trim() === '')
    .map(([pointer, [label]]) => ({ pointer, rule: 'required', detail: t(commonTexts.problems.fillIn(label)) }));
}

/** What is different in the version that was taken over. */
export function Differences({ of }: { of: ReturnType<typeof differences> }) {
  if (of.length === 0) return null;
  return (
    <div class="note" role="status">
      <p>{t(commonTexts.problems.different)}</p>
      <ul>
        {of.map(({ name, before, now }) => (
          <li key={name}>
            {name}: <bdi>{before}</bdi> → <bdi>{now}</bdi>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The buttons of a form: others of its own, the one that sends it, and the one that leaves it. */
export function FormButtons({
  action,
  submit,
  cancel,
  isDangerous = false,
  children,
}: {
  action: Action;
  submit: string;
  /** What it does, or where it leads. */
  cancel: string | (() => void);
  isDangerous?: boolean;
  children?: ComponentChildren;
}) {
  return (
    <div class="actions">
      {children}
      <button type="submit" class={isDangerous ? 'danger first' : 'first'} disabled={action.isBusy}>
        {action.isBusy ? t(commonTexts.busy) : submit}
      </button>
      {typeof cancel === 'string' ? (
        <a class="button" href={cancel}>
          {t(commonTexts.cancel)}
        </a>
      ) : (
        <button type="button" onClick={cancel}>
          {t(commonTexts.cancel)}
        </button>
      )}
    </div>
  );
}
