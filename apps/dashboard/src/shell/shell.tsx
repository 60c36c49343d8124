import { Outlet, useLocation, useNavigate, useRouter, useRouterState } from '@tanstack/react-router';
import { Menu as MenuIcon } from 'lucide-react';
import { lazy, Suspense, useEffect, useLayoutEffect, useState } from 'react';
import { followChanges } from '../api/live.ts';
import { type Me, may, refusalOf, useMe } from '../api/me.ts';
import { outdated } from '../api/release.ts';
import { useStore } from '../api/store.ts';
import { focusFirstRow } from '../parts/list.tsx';
import { Page, PageHeader } from '../parts/page.tsx';
import { Notice } from '../parts/states.tsx';
import { useSharedUtc } from '../parts/times.tsx';
import { Toasts } from '../parts/toasts.tsx';
import { FactorNotice } from './factor-notice.tsx';
import { docked, floating } from './floating.ts';
import { locate, newEmail, type Place, spaceOf, visibleSections } from './navigation.ts';
import { SessionDialogs } from './session-dialogs.tsx';
import { addShortcuts, listenForShortcuts } from './shortcuts.ts';
import { Brand, Sidebar } from './sidebar.tsx';
import { words } from './strings.ts';
import { useShownPath } from './trail.tsx';
import { WorkerNotice } from './worker-notice.tsx';

const ACCOUNT = '/settings/account';

/** Loads the palette once the page is idle, so that its first opening does not wait for the network. */
function preloadPalette(): () => void {
  const load = () => void importPalette().catch(() => {});
  // Safari has no requestIdleCallback.
  if (!('requestIdleCallback' in window)) {
    const timer = setTimeout(load, 1000);
    return () => clearTimeout(timer);
  }
  const request = requestIdleCallback(load);
  return () => cancelIdleCallback(request);
}

/** If the palette cannot be loaded, the keyboard must go back to the page. */
const importPalette = () =>
  import('./palette/palette.tsx').catch((error: unknown) => {
    floating.set(null);
    throw error;
  });
const Palette = lazy(async () => ({ default: (await importPalette()).Palette }));
const Dock = lazy(async () => ({ default: (await import('./dock/dock.tsx')).Dock }));
const ShortcutList = lazy(async () => ({ default: (await import('./shortcut-list.tsx')).ShortcutList }));

export function Shell() {
  const [open, setOpen] = useState(false);
  const above = useStore(floating);
  const dock = useStore(docked);
  const old = useStore(outdated);
  const router = useRouter();
  const { workspace_id, factor_due } = useMe();
  const loads_page = useRouterState({
    select: ({ isLoading, location, resolvedLocation }) =>
      isLoading && location.pathname !== resolvedLocation?.pathname,
  });
  useShellKeys();
  useEffect(preloadPalette, []);
  useSharedUtc();
  useEffect(() => (factor_due ? undefined : followChanges(workspace_id)), [workspace_id, factor_due]);
  useEffect(() => router.subscribe('onResolved', () => setOpen(false)), [router]);
  return (
    <>
      <a className="skip" href="#page">
        {words.skip}
      </a>
      <div className="notice-bars">
        {old && (
          <div className="notice-bar" role="status">
            {words.updated}
            <button type="button" className="button s" onClick={() => location.reload()}>
              {words.reload}
            </button>
          </div>
        )}
        {!factor_due && <WorkerNotice />}
      </div>
      <div className={`shell ${loads_page ? 'loading' : ''}`}>
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
        {!factor_due && <Sidebar open={open} />}
        <main id="page" className="main" tabIndex={-1}>
          <FactorNotice />
          <AllowedPage />
        </main>
        <Suspense>{dock && !factor_due && <Dock onClose={() => docked.set(false)} />}</Suspense>
      </div>
      <Suspense>
        {above === 'palette' && !factor_due && <Palette onClose={() => floating.set(null)} />}
        {above === 'shortcuts' && <ShortcutList onClose={() => floating.set(null)} />}
      </Suspense>
      <SessionDialogs />
      <Toasts />
    </>
  );
}

/** Renders the page, or who may open it. Which pages a user may see is a rule of the navigation alone. */
function AllowedPage() {
  const me = useMe();
  const pathname = useShownPath();
  const place = locate(pathname)?.place;
  const must_leave = me.factor_due && pathname !== ACCOUNT;
  const navigate = useNavigate();
  useEffect(() => {
    if (must_leave) void navigate({ to: ACCOUNT, replace: true });
  }, [must_leave, navigate]);
  if (must_leave) return null;
  const refusal = place?.needs === undefined ? null : refusalOf(me, place.needs);
  if (!place || refusal === null) return <Outlet />;
  const text = words.forbidden;
  return (
    <Page>
      <PageHeader title={place.word} answer={text.title(place.word)} />
      <Notice tone="calm">
        <p>{refusal}</p>
        <p>{place.needs === 'operator' ? text.askOperator : text.ask}</p>
      </Notice>
    </Page>
  );
}

/** Returns one place per key: that of the current space, if both spaces have one. */
function placesByKey(me: Me, pathname: string): readonly (Place & { readonly key: string })[] {
  const here = spaceOf(pathname);
  const all = visibleSections(me).toSorted((left, right) => Number(left.space === here) - Number(right.space === here));
  const keyed = all.flatMap(({ places }) =>
    places.flatMap((place) => (place.key ? [[place.key, place] as const] : [])),
  );
  return [...new Map(keyed)].map(([key, place]) => ({ ...place, key }));
}

function useShellKeys(): void {
  const navigate = useNavigate();
  const me = useMe();
  const { pathname } = useLocation();
  // Before the first paint: a user who sees the page may press a key.
  useLayoutEffect(
    () =>
      addShortcuts(
        placesByKey(me, pathname).map(({ key, to, word }) => ({
          keys: `g ${key}`,
          about: words.keys.goTo(word),
          run: () => void navigate({ to }),
        })),
      ),
    [me, pathname, navigate],
  );
  useLayoutEffect(() => {
    const stopListening = listenForShortcuts();
    const remove = addShortcuts([
      { keys: '?', about: words.keys.shortcuts, run: () => floating.set('shortcuts') },
      { keys: 'j', about: words.keys.first, run: focusFirstRow },
      ...(may(me, newEmail.needs)
        ? [{ keys: 'c', about: words.keys.newEmail, run: () => void navigate({ to: newEmail.to }) }]
        : []),
    ]);
    const toggleDock = (event: KeyboardEvent) => {
      if (!(event.metaKey || event.ctrlKey) || event.key !== 'j') return;
      event.preventDefault();
      docked.set(!docked.get());
    };
    addEventListener('keydown', toggleDock);
    return () => {
      stopListening();
      remove();
      removeEventListener('keydown', toggleDock);
    };
  }, [navigate]);
}
