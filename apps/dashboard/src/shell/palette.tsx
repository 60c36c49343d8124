import { useQuery } from '@tanstack/react-query';
import { useNavigate, useRouter } from '@tanstack/react-router';
import { CornerDownRight, type LucideIcon, Moon, Sun } from 'lucide-react';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { useMe } from '../api/me.ts';
import { trpc } from '../api/trpc.ts';
import { visibleSections } from './navigation.ts';
import { words } from './strings.ts';
import { setTheme } from './theme.ts';

interface PaletteItem {
  readonly id: string;
  readonly word: string;
  readonly about: string;
  readonly icon: LucideIcon;
  readonly run: () => void;
}

/** Finds pages and actions by name, and records by ID, address, or subject. */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  const places = useSearchResults(text);
  const search_results = useThingSearch(text);
  const items = [...places, ...search_results.hits];
  useEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const current = items[Math.min(at, items.length - 1)];
  const choose = (one: PaletteItem | undefined) => {
    if (!one) return;
    onClose();
    one.run();
  };
  const keys = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setAt((at + step + items.length) % Math.max(1, items.length));
    }
    if (event.key === 'Enter') choose(current);
    if (event.key === 'Escape') {
      event.preventDefault();
      onClose();
    }
  };
  return (
    <dialog
      ref={element}
      className="palette"
      aria-label={words.palette.title}
      onCancel={onClose}
      onClick={(event) => event.target === element.current && onClose()}
    >
      <input
        role="combobox"
        aria-label={words.palette.title}
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={current && `${id}-${current.id}`}
        placeholder={words.palette.placeholder}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={keys}
      />
      {items.length === 0 ? (
        <p role="status">{search_results.waiting ? words.palette.looking : words.palette.none}</p>
      ) : (
        <div className="options" id={`${id}-list`} role="listbox" aria-label={words.palette.title}>
          {items.map((one) => (
            <div
              key={one.id}
              id={`${id}-${one.id}`}
              role="option"
              className="option"
              aria-selected={one === current}
              onPointerMove={() => setAt(items.indexOf(one))}
              onClick={() => choose(one)}
            >
              <one.icon size={16} aria-hidden />
              <span className="cut">{one.word}</span>
              <span className="faint small">{one.about}</span>
            </div>
          ))}
        </div>
      )}
    </dialog>
  );
}

function useSearchResults(text: string): readonly PaletteItem[] {
  const me = useMe();
  const navigate = useNavigate();
  const pages = visibleSections(me).flatMap((section) =>
    section.places.map(({ to, word }) => ({
      id: `page${to.replaceAll('/', '-')}`,
      word,
      about: words.palette.page,
      icon: section.icon,
      run: () => void navigate({ to }),
    })),
  );
  const actions: readonly PaletteItem[] = [
    {
      id: 'light',
      word: words.account.theme.light,
      about: words.palette.action,
      icon: Sun,
      run: () => setTheme('light'),
    },
    {
      id: 'dark',
      word: words.account.theme.dark,
      about: words.palette.action,
      icon: Moon,
      run: () => setTheme('dark'),
    },
  ];
  const needle = text.trim().toLowerCase();
  return [...pages, ...actions].filter(({ word }) => word.toLowerCase().includes(needle));
}

const SHORTEST = 2;
const REST_MS = 200;

/** Returns the records that match the text, queried after a pause in typing. */
function useThingSearch(text: string): { readonly hits: readonly PaletteItem[]; readonly waiting: boolean } {
  const { history } = useRouter();
  const [query, setQuery] = useState('');
  const term = text.trim();
  useEffect(() => {
    const timer = setTimeout(() => setQuery(term), REST_MS);
    return () => clearTimeout(timer);
  }, [term]);
  const enabled = query.length >= SHORTEST && query === term;
  const hits = useQuery(trpc.find.queryOptions({ text: query, limit: 12 }, { enabled }));
  const waiting = term.length >= SHORTEST && (!enabled || hits.isPending);
  const data = enabled ? (hits.data?.data ?? []) : [];
  return {
    waiting,
    hits: data.map(({ type, id, title, detail, path }) => ({
      id: `${type}-${id.replaceAll(/[^\w-]/g, '-')}`,
      word: title,
      about: [words.palette.types[type], detail].filter(Boolean).join(', '),
      icon: CornerDownRight,
      run: () => history.push(path),
    })),
  };
}
