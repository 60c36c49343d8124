import { Choices } from '../../parts/field.tsx';
import { type MailStatus, mailStates } from '../../parts/mail-status.tsx';
import { SearchForm } from '../../parts/search-field.tsx';
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
  const { status } = parseSearch(text).filter;
  return (
    <search className="stack-s">
      <div className="line">
        <SearchForm
          label={words.search.label}
          placeholder={words.search.placeholder}
          text={text}
          onChange={onChange}
          className="grow"
        />
        {filters && (
          <Choices
            label={words.columns.status}
            options={options}
            value={status === undefined ? 'all' : (quick.find((name) => name === status) ?? null)}
            onChange={(name) => onChange(withStatus(text, name === 'all' ? null : name))}
          />
        )}
      </div>
      {unknown.length > 0 && (
        <p role="status" className="small muted">
          {words.search.unknown(unknown.join(' '))}
        </p>
      )}
    </search>
  );
}
