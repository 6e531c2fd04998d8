import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import type { Problem } from '../app/api.js';

interface FieldProps {
  label: string;
  hint?: ComponentChildren;
  /** The problem of the form, and the place in the request that this field is (`/sink`): its faults are shown here. */
  problem?: Problem | undefined;
  pointer?: string;
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
export function Field({ label, hint, problem, pointer, children }: FieldProps) {
  const id = useId();
  const faults = faultsAt(problem, pointer);
  const described = [hint === undefined ? '' : `${id}-hint`, faults.length === 0 ? '' : `${id}-faults`];
  return (
    <div class="field">
      <label for={id}>{label}</label>
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
      {faults.length > 0 && (
        <ul class="faults" id={`${id}-faults`}>
          {faults.map(({ pointer: place, detail }) => (
            <li key={place}>
              {place === pointer ? '' : <code>{place}</code>} {detail}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
