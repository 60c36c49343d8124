import { X } from 'lucide-react';
import { words } from './strings.ts';

interface FilterChip {
  readonly label: string;
  readonly remove: () => void;
}

/** Shows the filters of a list, each with a button that removes it. */
export function FilterChips({ all, onClear }: { readonly all: readonly FilterChip[]; readonly onClear: () => void }) {
  if (all.length === 0) return null;
  return (
    <ul className="line" aria-label={words.filters.label}>
      {all.map(({ label, remove }) => (
        <li key={label}>
          <button type="button" className="button s filter" aria-label={words.filters.remove(label)} onClick={remove}>
            <span className="cut">{label}</span>
            <X size={13} aria-hidden />
          </button>
        </li>
      ))}
      {all.length > 1 && (
        <li>
          <button type="button" className="button s plain" onClick={onClear}>
            {words.filters.clear}
          </button>
        </li>
      )}
    </ul>
  );
}
