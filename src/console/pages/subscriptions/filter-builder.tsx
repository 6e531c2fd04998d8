import { Trash2 } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import type { Problem } from '../../app/api.js';
import { t } from '../../app/text.js';
import { filterTexts as texts } from '../../texts/filters.js';
import { faultsAt, FaultList } from '../../ui/form.js';
import { Icon } from '../../ui/icon.js';
import { type Condition, conditionsOf, filtersOf, operators, readFilters } from './filter-conditions.js';
import { JsonEditor } from './json-editor.js';

const attributes = ['type', 'source', 'subject', 'id', 'time', 'dataschema', 'datacontenttype'];
const empty: Condition = {
  kind: 'compare',
  attribute: '',
  operator: 'exact',
  value: '',
  isNot: false,
  place: '',
  part: '',
};

/** The filters as rows, or as JSON: two views of one text. What has no row is shown as it is, and stays. */
export function FilterBuilder({
  text,
  onText,
  isJson,
  onJson,
  hint = '',
  problem,
  known,
}: {
  text: string;
  onText: (text: string) => void;
  isJson: boolean;
  onJson: (isJson: boolean) => void;
  hint?: string;
  problem: Problem;
  /** More attributes to choose from. */
  known: readonly string[];
}) {
  const list = useId();
  const filters = readFilters(text);
  if (isJson || filters === undefined) {
    return (
      <>
        <JsonEditor
          label={t(texts.title)}
          hint={`${t(texts.jsonHint)} ${hint}`}
          value={text}
          onInput={onText}
          problem={problem}
          pointer="/filters"
        />
        <p class="links">
          <button type="button" class="quiet" disabled={filters === undefined} onClick={() => onJson(false)}>
            {t(texts.asRows)}
          </button>
        </p>
      </>
    );
  }
  const conditions = conditionsOf(filters);
  const places = placesOf(conditions);
  const others = faultsAt(problem, '/filters').filter(({ pointer }) => !places.some((place) => isIn(pointer, place)));
  return (
    <fieldset class="conditions">
      <legend>{t(texts.title)}</legend>
      {hint !== '' && <p class="soft">{hint}</p>}
      <datalist id={list}>
        {[...new Set([...attributes, ...known])].map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <Rows
        of={conditions}
        onChange={(next) => onText(next.length === 0 ? '' : JSON.stringify(filtersOf(next), undefined, 2))}
        problem={problem}
        list={list}
      >
        <button type="button" class="quiet" onClick={() => onJson(true)}>
          {t(texts.asJson)}
        </button>
      </Rows>
      <FaultList of={others} />
    </fieldset>
  );
}

const isIn = (pointer: string, place: string) => pointer === place || pointer.startsWith(`${place}/`);

const placesOf = (conditions: readonly Condition[]): string[] =>
  conditions.flatMap((each) => (each.kind === 'group' ? [...placesOf(each.members), each.place] : each.place));

interface Shared {
  problem: Problem;
  /** The id of the list of attributes. */
  list: string;
}

function Rows({
  of,
  onChange,
  children,
  ...shared
}: Shared & {
  of: readonly Condition[];
  onChange: (next: readonly Condition[]) => void;
  children?: ComponentChildren;
}) {
  return (
    <>
      {of.map((each, place) => (
        <div
          key={place}
          class={`condition ${each.kind}`}
          role="group"
          aria-label={t(texts.condition(String(place + 1)))}
        >
          <Row {...shared} of={each} onChange={(next) => onChange(of.with(place, next))} />
          <button
            type="button"
            class="quiet"
            aria-label={t(texts.remove)}
            title={t(texts.remove)}
            onClick={() => onChange(of.toSpliced(place, 1))}
          >
            <Icon of={Trash2} />
          </button>
          {each.kind === 'group' && (
            <div class="members">
              <Rows
                {...shared}
                of={each.members}
                onChange={(members) => onChange(of.with(place, { ...each, members }))}
              />
            </div>
          )}
        </div>
      ))}
      <p class="links">
        <button type="button" class="quiet" onClick={() => onChange([...of, empty])}>
          <b>{t(texts.add)}</b>
        </button>
        {children}
      </p>
    </>
  );
}

/** The controls of a condition, and its faults. Those of the members of a group are at the members. */
function Row({ of, onChange, problem, list }: Shared & { of: Condition; onChange: (next: Condition) => void }) {
  const id = useId();
  const faults = faultsAt(problem, of.place).filter(({ pointer }) => of.kind !== 'group' || pointer === of.place);
  const control = {
    'aria-invalid': faults.length > 0 || undefined,
    'aria-describedby': faults.length > 0 ? id : undefined,
    autocomplete: 'off',
    spellcheck: false,
  };
  /** Words for the condition and for its contrary. */
  const choice = <Name extends string>(
    label: string,
    names: readonly Name[],
    value: Name,
    words: Record<Name, readonly [yes: string, no: string]>,
    choose: (name: Name, isNot: boolean) => Condition,
  ) => (
    <select
      aria-label={label}
      value={`${names.indexOf(value)} ${of.isNot}`}
      onChange={({ currentTarget }) => {
        const [place, isNot] = currentTarget.value.split(' ');
        onChange(choose(names[Number(place)] ?? value, isNot === 'true'));
      }}
    >
      {names.flatMap((name, place) =>
        [false, true].map((isNot) => (
          <option key={`${name} ${isNot}`} value={`${place} ${isNot}`}>
            {words[name][isNot ? 1 : 0]}
          </option>
        )),
      )}
    </select>
  );
  return (
    <>
      {of.kind === 'compare' && (
        <>
          <input
            {...control}
            list={list}
            aria-label={t(texts.attribute)}
            placeholder={t(texts.attribute)}
            value={of.attribute}
            onInput={({ currentTarget }) => onChange({ ...of, attribute: currentTarget.value.trim() })}
          />
          {choice(t(texts.operator), operators, of.operator, wordsOf(texts.operators), (operator, isNot) => ({
            ...of,
            operator,
            isNot,
          }))}
          <input
            {...control}
            aria-label={t(texts.value)}
            placeholder={t(texts.value)}
            value={of.value}
            onInput={({ currentTarget }) => onChange({ ...of, value: currentTarget.value })}
          />
        </>
      )}
      {of.kind === 'sql' && (
        <>
          {choice(t(texts.operator), ['sql'], 'sql', wordsOf(texts.expressions), (_, isNot) => ({ ...of, isNot }))}
          <input
            {...control}
            aria-label={t(texts.expression)}
            value={of.text}
            onInput={({ currentTarget }) => onChange({ ...of, text: currentTarget.value })}
          />
        </>
      )}
      {of.kind === 'group' &&
        choice(t(texts.group), ['all', 'any'], of.of, wordsOf(texts.groups), (name, isNot) => ({
          ...of,
          of: name,
          isNot,
        }))}
      {of.kind === 'json' && <code>{JSON.stringify(of.value)}</code>}
      <FaultList of={faults} id={id} at={of.place} />
    </>
  );
}

function wordsOf<Name extends string>(from: Record<Name, readonly [Parameters<typeof t>[0], Parameters<typeof t>[0]]>) {
  const entries = Object.entries(from) as Array<[Name, (typeof from)[Name]]>;
  return Object.fromEntries(entries.map(([name, [yes, no]]) => [name, [t(yes), t(no)]])) as unknown as Record<
    Name,
    [string, string]
  >;
}
