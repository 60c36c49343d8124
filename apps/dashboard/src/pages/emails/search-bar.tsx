import { Search } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Choices } from '../../parts/field.tsx';
import { type MailStatus, mailStates } from '../../parts/mail-status.tsx';
import { parseSearch, withStatus } from './search-grammar.ts';
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

/** The search of the list; it is in the URL once submitted. */
export function SearchBar({
  text,
  unknown,
  onChange,
}: {
  readonly text: string;
  readonly unknown: readonly string[];
  readonly onChange: (text: string) => void;
}) {
  const [typed, setTyped] = useState(text);
  useEffect(() => setTyped(text), [text]);
  const { status } = parseSearch(text).filter;
  return (
    <search className="stack-s">
      <div className="line">
        <form
          className="search-form grow"
          onSubmit={(event) => {
            event.preventDefault();
            onChange(typed.trim());
          }}
        >
          <Search size={15} aria-hidden />
          <input
            className="input"
            type="search"
            aria-label={words.search.label}
            placeholder={words.search.placeholder}
            autoComplete="off"
            spellCheck={false}
            value={typed}
            onChange={(event) => {
              setTyped(event.currentTarget.value);
              if (event.currentTarget.value === '') onChange('');
            }}
          />
        </form>
        <Choices
          label={words.columns.status}
          options={options}
          value={status === undefined ? 'all' : (quick.find((name) => name === status) ?? null)}
          onChange={(name) => onChange(withStatus(text, name === 'all' ? null : name))}
        />
      </div>
      {unknown.length > 0 && (
        <p role="status" className="small muted">
          {words.search.unknown(unknown.join(' '))}
        </p>
      )}
    </search>
  );
}
