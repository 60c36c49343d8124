import { useStore } from '../api/store.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Check } from '../parts/field.tsx';
import { listShortcuts, shortcutsOn, switchShortcuts } from './shortcuts.ts';
import { words } from './strings.ts';

const fixed: readonly (readonly [string, string])[] = [
  ['j k', words.shortcuts.rows],
  ['Enter', words.shortcuts.open],
  ['x', words.shortcuts.choose],
  ['Ctrl K', words.shortcuts.find],
  ['Ctrl J', words.shortcuts.dock],
  ['Esc', words.shortcuts.close],
];

export function ShortcutList({ onClose }: { readonly onClose: () => void }) {
  const enabled = useStore(shortcutsOn);
  const rows = [...fixed, ...listShortcuts().map(({ keys, about }) => [keys, about] as const)];
  return (
    <Dialog title={words.shortcuts.title} onClose={onClose}>
      <dl className="facts">
        {rows.flatMap(([keys, description]) => [
          <dt key={keys}>
            {keys.split(' ').map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
          </dt>,
          <dd key={`${keys} about`}>{description}</dd>,
        ])}
      </dl>
      <Check
        name="shortcuts"
        label={words.shortcuts.on}
        about={words.shortcuts.onAbout}
        checked={enabled}
        onChange={switchShortcuts}
      />
    </Dialog>
  );
}
