import { type KeyboardEvent, type ReactNode, useId } from 'react';

export interface Tab<T extends string> {
  readonly name: T;
  readonly word: string;
  readonly show: () => ReactNode;
}

/** Renders tabs whose selection is controlled by the page, usually through its URL. */
export function Tabs<T extends string>({
  label,
  tabs,
  value,
  onChange,
}: {
  readonly label: string;
  readonly tabs: readonly Tab<T>[];
  readonly value: T;
  readonly onChange: (name: T) => void;
}) {
  const id = useId();
  const at = Math.max(
    0,
    tabs.findIndex(({ name }) => name === value),
  );
  const move = (event: KeyboardEvent<HTMLDivElement>) => {
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = tabs.at(to % tabs.length);
    if (!next) return;
    onChange(next.name);
    document.getElementById(`${id}-${next.name}`)?.focus();
  };
  return (
    <div className="stack">
      <div className="tabs" role="tablist" aria-label={label} onKeyDown={move}>
        {tabs.map(({ name, word }, index) => (
          <button
            key={name}
            id={`${id}-${name}`}
            type="button"
            role="tab"
            aria-selected={index === at}
            aria-controls={`${id}-panel`}
            tabIndex={index === at ? 0 : -1}
            onClick={() => onChange(name)}
          >
            {word}
          </button>
        ))}
      </div>
      <div id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-${tabs[at]?.name}`} tabIndex={-1}>
        {tabs[at]?.show()}
      </div>
    </div>
  );
}
