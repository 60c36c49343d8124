import { Link, useLocation, useNavigate } from '@tanstack/react-router';
import { Check, ChevronsUpDown, CircleUser, Search } from 'lucide-react';
import { useEffect } from 'react';
import { type Me, may, useMe } from '../api/me.ts';
import { problemOf } from '../api/problem.ts';
import { signOut } from '../api/session.ts';
import { useStore } from '../api/store.ts';
import { client } from '../api/trpc.ts';
import { inWorkspace } from '../api/workspace.ts';
import { Menu, MenuItem } from '../parts/menu.tsx';
import { inUtc, showUtc } from '../parts/times.tsx';
import { toast } from '../parts/toasts.tsx';
import icon from '../style/icon.svg';
import { docked, floating } from './floating.ts';
import { groupWords, type Place, places } from './navigation.ts';
import { words } from './strings.ts';
import { setTheme, theme, themes } from './theme.ts';

export function Brand() {
  return (
    <Link to="/" className="brand">
      <img src={icon} alt="" width={22} height={22} />
      Postrider
    </Link>
  );
}

export function Sidebar({ open }: { readonly open: boolean }) {
  const me = useMe();
  const groups: readonly Place['group'][] = ['mail', 'settings', 'instance'];
  const { pathname } = useLocation();
  // The list may be taller than the window, and the current entry must be visible.
  useEffect(() => {
    document.querySelector('.nav a[aria-current="page"]')?.scrollIntoView({ block: 'nearest' });
  }, [pathname]);
  return (
    <aside className={`side ${open ? 'open' : ''}`} aria-label={words.sidebar}>
      <Brand />
      <WorkspaceSwitch me={me} />
      <button type="button" className="side-button framed" onClick={() => floating.set('palette')}>
        <Search size={15} color="var(--faint)" />
        <span className="muted">{words.find}</span>
        <kbd>{/mac/i.test(navigator.userAgent) ? '⌘' : 'Ctrl'} K</kbd>
      </button>
      <nav className="nav" aria-label={words.menu}>
        {groups.map((group) => {
          const visible_places = places.filter(
            (place) => place.group === group && (!place.only || may(me, place.only)),
          );
          return visible_places.length === 0 ? null : (
            <div key={group}>
              <h2>{groupWords[group]}</h2>
              <ul>
                {visible_places.map(({ to, word, icon: Icon }) => (
                  <li key={to}>
                    <Link to={to} activeOptions={{ exact: to === '/', includeSearch: false }}>
                      <Icon size={16} aria-hidden />
                      {word}
                    </Link>
                  </li>
                ))}
              </ul>
            </div>
          );
        })}
      </nav>
      <AccountMenu me={me} />
    </aside>
  );
}

function WorkspaceSwitch({ me }: { readonly me: Me }) {
  const workspace = me.workspaces.find(({ id }) => id === me.workspace_id);
  const switchTo = (workspace_id: string) => {
    if (workspace_id === me.workspace_id) return;
    client.people.switchWorkspace.mutate({ workspace_id }).then(
      () => location.assign(`/w/${workspace_id}`),
      (error: unknown) => toast(problemOf(error).message, 'bad'),
    );
  };
  return (
    <Menu
      label={words.workspace.menu(workspace?.name ?? me.workspace_id)}
      className="side-button framed"
      button={
        <>
          <span className="cut">{workspace?.name ?? me.workspace_id}</span>
          <ChevronsUpDown size={14} color="var(--faint)" />
        </>
      }
    >
      {me.workspaces.map(({ id, name, role }) => (
        <MenuItem key={id} checked={id === me.workspace_id} onSelect={() => switchTo(id)}>
          <span className="grow">{name}</span>
          <span className="faint small">{words.workspace.roles[role ?? 'operator']}</span>
          {id === me.workspace_id && <Check size={14} />}
        </MenuItem>
      ))}
    </Menu>
  );
}

function AccountMenu({ me }: { readonly me: Me }) {
  const navigate = useNavigate();
  const current = useStore(theme);
  const utc = useStore(inUtc);
  return (
    <Menu
      label={words.account.menu(me.email)}
      className="side-button"
      button={
        <>
          <CircleUser size={18} color="var(--faint)" />
          <span className="cut small">{me.email}</span>
        </>
      }
    >
      {themes.map((name) => (
        <MenuItem key={name} checked={name === current} stays onSelect={() => setTheme(name)}>
          <span className="grow">{words.account.theme[name]}</span>
          {name === current && <Check size={14} />}
        </MenuItem>
      ))}
      <hr />
      <MenuItem onSelect={() => void navigate({ to: '/settings/account' })}>{words.account.settings}</MenuItem>
      <MenuItem checked={utc} stays onSelect={() => showUtc(!utc)}>
        <span className="grow">{words.account.utc}</span>
        {utc && <Check size={14} />}
      </MenuItem>
      <MenuItem onSelect={() => floating.set('shortcuts')}>
        <span className="grow">{words.account.shortcuts}</span>
        <kbd>?</kbd>
      </MenuItem>
      <MenuItem onSelect={() => docked.set(!docked.get())}>
        <span className="grow">{words.account.dock}</span>
        <kbd>Ctrl J</kbd>
      </MenuItem>
      <MenuItem onSelect={() => location.assign(inWorkspace('/graphiql'))}>{words.account.graphiql}</MenuItem>
      <hr />
      <MenuItem onSelect={() => void signOut()}>{words.account.signOut}</MenuItem>
    </Menu>
  );
}
