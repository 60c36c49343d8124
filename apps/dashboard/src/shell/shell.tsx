import { Outlet, useNavigate, useRouter } from '@tanstack/react-router';
import { Menu as MenuIcon } from 'lucide-react';
import { lazy, Suspense, useEffect, useState } from 'react';
import { followChanges } from '../api/live.ts';
import { useMe } from '../api/me.ts';
import { outdated } from '../api/release.ts';
import { useStore } from '../api/store.ts';
import { focusFirstRow } from '../parts/list.tsx';
import { useSharedUtc } from '../parts/times.tsx';
import { Toasts } from '../parts/toasts.tsx';
import { docked, floating } from './floating.ts';
import { places } from './navigation.ts';
import { SessionDialogs } from './session-dialogs.tsx';
import { addShortcuts, listenForShortcuts, shortcutsOn } from './shortcuts.ts';
import { Brand, Sidebar } from './sidebar.tsx';
import { words } from './strings.ts';
import { WorkerNotice } from './worker-notice.tsx';

const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }));
const Dock = lazy(async () => ({ default: (await import('./dock/dock.tsx')).Dock }));
const ShortcutList = lazy(async () => ({ default: (await import('./shortcut-list.tsx')).ShortcutList }));

export function Shell() {
  const [open, setOpen] = useState(false);
  const above = useStore(floating);
  const dock = useStore(docked);
  const old = useStore(outdated);
  const router = useRouter();
  const { workspace_id } = useMe();
  useShellKeys();
  useSharedUtc();
  useEffect(() => followChanges(workspace_id), [workspace_id]);
  useEffect(() => router.subscribe('onResolved', () => setOpen(false)), [router]);
  return (
    <>
      <a className="skip" href="#page">
        {words.skip}
      </a>
      {old && (
        <div className="notice-bar" role="status">
          {words.updated}
          <button type="button" className="button s" onClick={() => location.reload()}>
            {words.reload}
          </button>
        </div>
      )}
      <WorkerNotice />
      <div className="shell">
        <header className="topbar">
          <button
            type="button"
            className="button plain icon"
            aria-label={words.menu}
            aria-expanded={open}
            onClick={() => setOpen(!open)}
          >
            <MenuIcon size={18} />
          </button>
          <Brand />
        </header>
        <Sidebar open={open} />
        <main id="page" className="main" tabIndex={-1}>
          <Outlet />
        </main>
        <Suspense>{dock && <Dock onClose={() => docked.set(false)} />}</Suspense>
      </div>
      <Suspense>
        {above === 'palette' && <Palette onClose={() => floating.set(null)} />}
        {above === 'shortcuts' && <ShortcutList onClose={() => floating.set(null)} />}
      </Suspense>
      <SessionDialogs />
      <Toasts />
    </>
  );
}

function useShellKeys(): void {
  const navigate = useNavigate();
  useEffect(() => {
    const stopListening = listenForShortcuts();
    const remove = addShortcuts([
      { keys: '?', about: words.keys.shortcuts, run: () => floating.set('shortcuts') },
      { keys: 'j', about: words.keys.first, run: focusFirstRow },
      ...places.flatMap(({ key, to, word }) =>
        key === undefined ? [] : [{ keys: `g ${key}`, about: words.keys.goTo(word), run: () => void navigate({ to }) }],
      ),
    ]);
    const openPalette = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && event.key === 'j') {
        event.preventDefault();
        docked.set(!docked.get());
      }
      const slash = event.key === '/' && shortcutsOn.get() && !isTyping(event.target);
      if (!slash && !((event.metaKey || event.ctrlKey) && event.key === 'k')) return;
      if (document.querySelector('dialog:modal')) return;
      event.preventDefault();
      floating.set('palette');
    };
    addEventListener('keydown', openPalette);
    return () => {
      stopListening();
      remove();
      removeEventListener('keydown', openPalette);
    };
  }, [navigate]);
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input, textarea, select');
}
