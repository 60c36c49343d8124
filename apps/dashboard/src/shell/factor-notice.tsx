import { Link } from '@tanstack/react-router';
import { useMe } from '../api/me.ts';
import { signOut } from '../api/session.ts';
import { Menu, MenuItem } from '../parts/menu.tsx';
import { Notice } from '../parts/states.tsx';
import { words } from './strings.ts';
import { switchWorkspace } from './switch-workspace.ts';

const text = words.factor;

/** Says that a policy requires a second factor of the user, and since or from when. */
export function FactorNotice() {
  const { factor_due, factor_due_at } = useMe();
  if (factor_due_at === null) return null;
  return (
    <div className="page factor-notice">
      <Notice tone="wait">
        <div className="line">
          <span className="grow">{factor_due ? text.due : text.soon(factor_due_at.slice(0, 10))}</span>
          {factor_due ? (
            <WaysOut />
          ) : (
            <Link className="button s" to="/settings/account">
              {text.add}
            </Link>
          )}
        </div>
      </Notice>
    </div>
  );
}

/** What the sidebar offers otherwise: other workspaces, which may not require a second factor, and signing out. */
function WaysOut() {
  const { workspaces, workspace_id } = useMe();
  const others = workspaces.filter(({ id }) => id !== workspace_id);
  return (
    <>
      {others.length > 0 && (
        <Menu label={text.switch} className="button s" button={text.switch}>
          {others.map(({ id, name }) => (
            <MenuItem key={id} onSelect={() => switchWorkspace(id)}>
              {name}
            </MenuItem>
          ))}
        </Menu>
      )}
      <button type="button" className="button s" onClick={() => void signOut()}>
        {words.account.signOut}
      </button>
    </>
  );
}
