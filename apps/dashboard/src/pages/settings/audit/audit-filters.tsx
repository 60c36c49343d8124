import './audit.css';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useStore } from '../../../api/store.ts';
import { Choices } from '../../../parts/field.tsx';
import { SearchForm } from '../../../parts/search-field.tsx';
import { inUtc } from '../../../parts/times.tsx';
import { actionGroups, isAction } from './action-words.ts';
import { isFiltered } from './filter.ts';
import { dayOf, dayStart, FIRST_DAY, type Range, rangeNames } from './ranges.ts';
import type { AuditSearch } from './search.ts';
import { words } from './strings.ts';
import { SYSTEM, type useActors } from './use-actors.ts';

interface FiltersProps {
  readonly path: '/settings/audit-log' | '/instance/audit-log';
  readonly search: AuditSearch;
  readonly actors: ReturnType<typeof useActors>;
  /** Undefined removes a filter. */
  readonly onChange: (change: { readonly [Name in keyof AuditSearch]?: AuditSearch[Name] | undefined }) => void;
}

/** Shows the filters of the audit log, all of which are in the URL. */
export function AuditFilters({ path, search, actors, onChange }: FiltersProps) {
  const { kind = 'changes', actor, target } = search;
  const action = search.action !== undefined && isAction(search.action) ? search.action : undefined;
  const range = search.range ?? (search.since || search.until ? 'dates' : undefined);
  return (
    <search className="audit-filters" aria-label={words.filters}>
      <Choices
        label={words.kind}
        options={(['changes', 'reads', 'all'] as const).map((name) => [name, words.kinds[name]] as const)}
        value={action === undefined ? kind : null}
        onChange={(name) => onChange({ kind: name === 'changes' ? undefined : name, action: undefined })}
      />
      <div className="line">
        <select
          className="input narrow"
          aria-label={words.person.label}
          value={actor ?? ''}
          onChange={({ currentTarget: { value } }) => onChange({ actor: value || undefined })}
        >
          <option value="">{words.person.all}</option>
          <option value={SYSTEM.id}>{SYSTEM.name}</option>
          {actors.map(({ label, options }) => (
            <optgroup key={label} label={label}>
              {options.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
        <select
          className="input narrow"
          aria-label={words.action}
          value={action ?? ''}
          onChange={({ currentTarget: { value } }) => onChange({ action: value || undefined })}
        >
          <option value="">{words.allActions}</option>
          {actionGroups.map(({ label, actions }) => (
            <optgroup key={label} label={label}>
              {actions.map(([name, word]) => (
                <option key={name} value={name}>
                  {word}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
        <select
          className="input narrow"
          aria-label={words.time}
          value={range ?? ''}
          onChange={({ currentTarget: { value } }) =>
            onChange({
              range: rangeNames.find((name): name is Range => name === value),
              since: undefined,
              until: undefined,
            })
          }
        >
          <option value="">{words.ranges.all}</option>
          {rangeNames.map((name) => (
            <option key={name} value={name}>
              {words.ranges[name]}
            </option>
          ))}
        </select>
        {range === 'dates' && <Dates search={search} onChange={onChange} />}
        <SearchForm
          className="audit-target"
          label={words.target}
          placeholder={words.target}
          text={target ?? ''}
          onChange={(text) => onChange({ target: text || undefined })}
        />
        {isFiltered(search) && (
          <Link className="button s plain" from={path} search={search.kind ? { kind: search.kind } : {}}>
            {words.clear}
          </Link>
        )}
      </div>
    </search>
  );
}

/** Both days are part of the range. */
function Dates({ search: { since, until }, onChange }: Omit<FiltersProps, 'path' | 'actors'>) {
  const utc = useStore(inUtc);
  const first = since === undefined ? '' : dayOf(Date.parse(since), utc);
  const last = until === undefined ? '' : dayOf(Date.parse(until) - 1, utc);
  return (
    <>
      <DateField
        label={words.from}
        max={last}
        day={first}
        onChange={(day) => onChange({ range: 'dates', since: dayStart(day, utc) })}
      />
      <DateField
        label={words.until}
        min={first}
        day={last}
        onChange={(day) => onChange({ range: 'dates', until: dayStart(day, utc, 1) })}
      />
    </>
  );
}

interface DateFieldProps {
  readonly label: string;
  readonly day: string;
  readonly min?: string;
  readonly max?: string;
  readonly onChange: (day: string) => void;
}

/** Keeps what is typed, because a year in the making, such as 0020, is a date for the browser. */
function DateField({ label, day, min, max, onChange }: DateFieldProps) {
  const [typed, setTyped] = useState(day);
  useEffect(() => setTyped(day), [day]);
  return (
    <label className="line">
      {label}
      <input
        className="input narrow"
        type="date"
        min={min}
        max={max}
        value={typed}
        onChange={({ currentTarget: { value } }) => {
          setTyped(value);
          if (value === '' || value >= FIRST_DAY) onChange(value);
        }}
      />
    </label>
  );
}
