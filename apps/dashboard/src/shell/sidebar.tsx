import { Link, useLocation, useNavigate } from '@tanstack/react-router';
import { Check, ChevronsUpDown, CircleUser, Plus, Search, Server } from 'lucide-react';
import { type Me, may, useMe } from '../api/me.ts';
import { signOut } from '../api/session.ts';
import { useStore } from '../api/store.ts';
import { inWorkspace } from '../api/workspace.ts';
import { Menu, MenuItem } from '../parts/menu.tsx';
import { inUtc, showUtc } from '../parts/times.tsx';
import icon from '../style/icon.svg';
import { docked, floating } from './floating.ts';
import { locate, newEmail, type Section, type Space, spaceOf, visibleSections } from './navigation.ts';
import { openPalette } from './palette/palette-keys.ts';
import { words } from './strings.ts';
import { switchWorkspace } from './switch-workspace.ts';
import { setTheme, theme, themes } from './theme.ts';

/** The version of the release, which the build inserts. */
declare const VERSION: string;

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
  const { pathname } = useLocation();
  const space = spaceOf(pathname);
  return (
    <aside className={`side ${open ? 'open' : ''} ${space}`} aria-label={words.sidebar}>
      <Brand />
      <SpaceSwitch me={me} space={space} />
      <button type="button" className="side-button framed" onClick={() => openPalette()}>
        <Search size={15} color="var(--faint)" />
        <span className="muted">{words.find}</span>
        <kbd>{/mac/i.test(navigator.userAgent) ? '⌘' : 'Ctrl'} K</kbd>
      </button>
      <nav className="nav" aria-label={words.menu}>
        <ul>
          {visibleSections(me, space).map((section) => (
            <NavEntry key={section.word} section={section} pathname={pathname} />
          ))}
        </ul>
      </nav>
      {space === 'workspace' && may(me, newEmail.needs) && (
        <Link to={newEmail.to} className="button new-email">
          <Plus size={15} />
          {words.newEmail}
          <kbd>c</kbd>
        </Link>
      )}
      <div className="side-foot">
        <a href={`/docs/${locate(pathname)?.place.docs ?? ''}`}>{words.docs}</a>
        <a href="/docs/changelog">{words.changelog}</a>
        <span className="faint">{words.version(VERSION)}</span>
      </div>
      <AccountMenu me={me} />
    </aside>
  );
}

function NavEntry({ section, pathname }: { readonly section: Section; readonly pathname: string }) {
  const { word, icon: Icon, places } = section;
  const [first] = places;
  if (!first) return null;
  const here = locate(pathname)?.place.to;
  const current = places.some(({ to }) => to === here);
  return (
    <li>
      <Link
        to={first.to}
        activeOptions={{ exact: true }}
        aria-current={current ? 'page' : undefined}
        className={current ? 'active' : ''}
      >
        <Icon size={16} aria-hidden />
        {word}
      </Link>
    </li>
  );
}

/** Switches between the workspaces of the user and, for operators, the instance. */
function SpaceSwitch({ me, space }: { readonly me: Me; readonly space: Space }) {
  const navigate = useNavigate();
  const workspace = me.workspaces.find(({ id }) => id === me.workspace_id);
  const of_instance = space === 'instance';
  const name = of_instance ? words.instance : (workspace?.name ?? me.workspace_id);
  return (
    <Menu
      label={words.workspace.menu(name)}
      className={`side-button framed ${of_instance ? 'of-instance' : ''}`}
      button={
        <>
          {of_instance && <Server size={15} />}
          <span className="cut">{name}</span>
          <ChevronsUpDown size={14} color="var(--faint)" />
        </>
      }
    >
      {me.workspaces.map((one) => {
        const current = !of_instance && one.id === me.workspace_id;
        return (
          <MenuItem
            key={one.id}
            checked={current}
            onSelect={() => (one.id === me.workspace_id ? void navigate({ to: '/' }) : switchWorkspace(one.id))}
          >
            <span className="grow">{one.name}</span>
            <span className="faint small">{words.workspace.roles[one.role ?? 'operator']}</span>
            {current && <Check size={14} />}
          </MenuItem>
        );
      })}
      {may(me, 'operator') && (
        <>
          <hr />
          <MenuItem checked={of_instance} onSelect={() => void navigate({ to: '/instance/status' })}>
            <Server size={15} />
            <span className="grow">{words.instance}</span>
            {of_instance && <Check size={14} />}
          </MenuItem>
        </>
      )}
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
