import { Search } from 'lucide-react';
import { useEffect, useState } from 'react';

interface SearchProps {
  readonly label: string;
  readonly placeholder: string;
  readonly text: string;
  readonly onChange: (text: string) => void;
}

/** Renders the search of a list, which is stored in the URL once submitted. */
export function SearchField(props: SearchProps) {
  return (
    <search>
      <SearchForm {...props} />
    </search>
  );
}

/** Renders a search form, for a page whose search landmark contains more than the field. */
export function SearchForm({
  label,
  placeholder,
  text,
  onChange,
  className = '',
}: SearchProps & { readonly className?: string }) {
  const [typed, setTyped] = useState(text);
  useEffect(() => setTyped(text), [text]);
  return (
    <form
      className={`search-form ${className}`}
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
  );
}
