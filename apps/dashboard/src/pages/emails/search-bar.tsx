import { ListFilter, Search } from 'lucide-react';
import { useRef } from 'react';
import { Choices } from '../../parts/field.tsx';
import { type MailStatus, mailStates } from '../../parts/mail-status.tsx';
import { Menu, MenuItem } from '../../parts/menu.tsx';
import { SearchForm } from '../../parts/search-field.tsx';
import { openPalette } from '../../shell/palette/palette-keys.ts';
import { parseSearch, termOf, withTerm } from './search-grammar.ts';
import { words } from './strings.ts';

const quick: readonly (MailStatus | 'all')[] = [
  'all',
  'queued',
  'scheduled',
  'deferred',
  'delivered',
  'bounced',
  'failed',
];

const options = quick.map((name) => [name, name === 'all' ? words.search.all : mailStates[name].word] as const);
const spans = ['1h', '24h', '7d', '30d'] as const;
const text_names = Object.entries(words.search.names);

/** Shows the list's search, which is stored in the URL once submitted. */
export function SearchBar({
  filters,
  text,
  unknown,
  onChange,
}: {
  /** Whether to offer the statuses. */
  readonly filters: boolean;
  readonly text: string;
  readonly unknown: readonly string[];
  readonly onChange: (text: string) => void;
}) {
  const field = useRef<HTMLDivElement>(null);
  const { status } = parseSearch(text).filter;
  const add = (name: string) => {
    const input = field.current?.querySelector('input');
    if (!input) return;
    input.focus();
    // Typed like a person would, so that the field notices.
    document.execCommand('insertText', false, `${input.value === '' || input.value.endsWith(' ') ? '' : ' '}${name}:`);
  };
  return (
    <search className="stack-s">
      <div className="line" ref={field}>
        <SearchForm
          label={words.search.label}
          placeholder={words.search.placeholder}
          text={text}
          onChange={onChange}
          className="grow"
        />
        <Menu
          label={words.search.filters}
          button={
            <>
              <ListFilter size={14} />
              {words.search.filters}
            </>
          }
        >
          {text_names.map(([name, [word, example]]) => (
            <MenuItem key={name} onSelect={() => add(name)}>
              {word} <code className="faint">{example}</code>
            </MenuItem>
          ))}
        </Menu>
        <RangeSelect text={text} onChange={onChange} />
      </div>
      {filters && (
        <Choices
          label={words.columns.status}
          options={options}
          value={status === undefined ? 'all' : (quick.find((name) => name === status) ?? null)}
          onChange={(name) => onChange(withTerm(text, 'status', name === 'all' ? null : name))}
        />
      )}
      {unknown.length > 0 && (
        <p role="status" className="line small muted">
          {words.search.unknown(unknown.join(' '))}
          <button type="button" className="button s" onClick={() => openPalette(unknown.join(' '))}>
            <Search size={13} />
            {words.search.find(unknown.join(' '))}
          </button>
        </p>
      )}
    </search>
  );
}

function RangeSelect({ text, onChange }: { readonly text: string; readonly onChange: (text: string) => void }) {
  const after = termOf(text, 'after');
  const custom = termOf(text, 'before') !== null || (after !== null && !spans.some((span) => span === after));
  const value = custom ? 'custom' : (after ?? 'any');
  return (
    <select
      className="input"
      aria-label={words.search.range}
      value={value}
      onChange={(event) => {
        const span = event.currentTarget.value;
        onChange(withTerm(withTerm(text, 'before', null), 'after', span === 'any' ? null : span));
      }}
    >
      {(['any', ...spans] as const).map((name) => (
        <option key={name} value={name}>
          {words.search.ranges[name]}
        </option>
      ))}
      {custom && (
        <option value="custom" disabled>
          {words.search.ranges.custom}
        </option>
      )}
    </select>
  );
}
