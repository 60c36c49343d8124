import { Search } from 'lucide-react';
import { useEffect, useState } from 'react';

/** The search of a list; it is in the URL once submitted. */
export function SearchField({
  label,
  placeholder,
  text,
  onChange,
}: {
  readonly label: string;
  readonly placeholder: string;
  readonly text: string;
  readonly onChange: (text: string) => void;
}) {
  const [typed, setTyped] = useState(text);
  useEffect(() => setTyped(text), [text]);
  return (
    <search>
      <form
        className="search-form"
        onSubmit={(event) => {
          event.preventDefault();
          onChange(typed.trim());
        }}
      >
        <Search size={15} aria-hidden />
        <input
          className="input"
          type="search"
          aria-label={label}
          placeholder={placeholder}
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={(event) => {
            setTyped(event.currentTarget.value);
            if (event.currentTarget.value === '') onChange('');
          }}
        />
      </form>
    </search>
  );
}
