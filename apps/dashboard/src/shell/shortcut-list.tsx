import { useStore } from '../api/store.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Check } from '../parts/field.tsx';
import { listShortcuts, shortcutsOn, switchShortcuts } from './shortcuts.ts';
import { words } from './strings.ts';

type Row = readonly [keys: string, about: string];

const fixed: readonly Row[] = [
  ['j k', words.shortcuts.rows],
  ['Enter', words.shortcuts.open],
  ['x', words.shortcuts.choose],
  ['/', words.keys.search],
  ['Ctrl K', words.shortcuts.find],
  ['Ctrl J', words.shortcuts.dock],
  ['Esc', words.shortcuts.close],
];

/** What precedes a place's name in the description of its shortcut. */
const GO_TO = words.keys.goTo('');

export function ShortcutList({ onClose }: { readonly onClose: () => void }) {
  const enabled = useStore(shortcutsOn);
  const registered = listShortcuts().map(({ keys, about }): Row => [keys, about]);
  const places = registered.filter(([keys]) => keys.startsWith('g '));
  const others = registered.filter(([keys]) => !keys.startsWith('g '));
  return (
    <Dialog title={words.shortcuts.title} onClose={onClose} className="dialog wide">
      {/* First, because a dialog focuses its first control, which scrolls it there. */}
      <Check
        name="shortcuts"
        label={words.shortcuts.on}
        about={words.shortcuts.onAbout}
        checked={enabled}
        onChange={switchShortcuts}
      />
      <Keys rows={[...fixed, ...others]} />
      <h3>{GO_TO.trim()}</h3>
      <Keys rows={places.map(([keys, about]) => [keys, about.replace(GO_TO, '')])} />
    </Dialog>
  );
}

function Keys({ rows }: { readonly rows: readonly Row[] }) {
  return (
    <dl className="shortcuts">
      {rows.map(([keys, description]) => (
        <div key={keys}>
          <dt>
            {keys.split(' ').map((key, at) => (
              <kbd key={`${at} ${key}`}>{key}</kbd>
            ))}
          </dt>
          <dd>{description}</dd>
        </div>
      ))}
    </dl>
  );
}
