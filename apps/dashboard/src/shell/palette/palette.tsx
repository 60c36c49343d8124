import './palette.css';
import { Command as Cmdk } from 'cmdk';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { useStore } from '../../api/store.ts';
import { words } from '../strings.ts';
import { AddressCard } from './address-card.tsx';
import type { Command } from './commands.ts';
import { enterPressed, paletteText } from './palette-keys.ts';
import { useResults } from './results.ts';

const text = words.palette;
const MOVES = new Set(['ArrowDown', 'ArrowUp', 'Home', 'End']);

/** Finds pages, actions, documentation, and records by ID, address or subject. */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  const typed = useStore(paletteText);
  const element = useRef<HTMLDialogElement>(null);
  const results = useResults(typed);
  const { waiting, commands, named, address, records, docs } = results;
  useEffect(() => {
    const before = document.activeElement;
    const dialog = element.current;
    dialog?.showModal();
    dialog?.querySelector('input')?.focus();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const { selected, select, moved } = useSelection(typed, element);
  const choose = (run: () => void) => {
    onClose();
    run();
  };
  useEnter(waiting, element);
  const keys = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (MOVES.has(event.key)) {
      moved.current = true;
      enterPressed.set(false);
    }
    if (event.key === 'Escape') {
      event.preventDefault();
      onClose();
    }
    // A result of an earlier text would be opened.
    if (event.key === 'Enter' && waiting && !named && !moved.current) {
      event.preventDefault();
      enterPressed.set(true);
    }
  };
  const found = <Items heading={text.groups.commands} items={commands} onChoose={choose} />;
  const none = commands.length + records.length + docs.length === 0 && address === null;
  return (
    <dialog
      ref={element}
      className="palette"
      aria-label={text.title}
      onCancel={onClose}
      onClick={(event) => event.target === element.current && onClose()}
    >
      <Cmdk label={text.title} shouldFilter={false} loop value={selected} onValueChange={select} onKeyDown={keys}>
        <Cmdk.Input
          aria-label={text.title}
          placeholder={text.placeholder}
          value={typed}
          onValueChange={(value) => {
            enterPressed.set(false);
            paletteText.set(value);
          }}
        />
        <p className={none ? '' : 'unseen'} role="status">
          {waiting ? text.searching : none ? text.none : ''}
        </p>
        <Cmdk.List
          className="options"
          label={text.title}
          onPointerMove={() => {
            moved.current = true;
          }}
        >
          {address && <AddressCard summary={address} onChoose={choose} />}
          {named && found}
          <Items heading={text.groups.records} items={records} onChoose={choose} />
          {!named && found}
          <Items heading={text.groups.docs} items={docs} onChoose={choose} />
        </Cmdk.List>
      </Cmdk>
    </dialog>
  );
}

/** Keeps the first option selected while results arrive, until the user moves to another. */
function useSelection(typed: string, element: { readonly current: HTMLDialogElement | null }) {
  const [selected, select] = useState('');
  const moved = useRef(false);
  useEffect(() => {
    moved.current = false;
  }, [typed]);
  useEffect(() => {
    if (!moved.current) select(element.current?.querySelector('[cmdk-item]')?.getAttribute('data-value') ?? '');
  });
  return { selected, select, moved };
}

/** Chooses the first result once it is there, if Enter was pressed before. */
function useEnter(waiting: boolean, element: { readonly current: HTMLDialogElement | null }): void {
  const pressed = useStore(enterPressed);
  useEffect(() => {
    if (waiting || !pressed) return;
    enterPressed.set(false);
    element.current?.querySelector<HTMLElement>('[role="option"]')?.click();
  }, [waiting, pressed, element]);
}

function Items({
  heading,
  items,
  onChoose,
}: {
  readonly heading: string;
  readonly items: readonly Command[];
  readonly onChoose: (run: () => void) => void;
}) {
  if (items.length === 0) return null;
  return (
    <Cmdk.Group heading={heading}>
      {items.map(({ id, word, about, icon: Icon, run }) => (
        <Cmdk.Item key={id} value={id} className="option" onSelect={() => onChoose(run)}>
          <Icon size={16} aria-hidden />
          <span className="cut">{word}</span>
          <span className="faint small">{about}</span>
        </Cmdk.Item>
      ))}
    </Cmdk.Group>
  );
}
