import { Link } from '@tanstack/react-router';
import { useMe } from '../api/me.ts';
import { signOut } from '../api/session.ts';
import { Notice } from '../parts/states.tsx';
import { words } from './strings.ts';

/** Says that a policy requires a second factor of the user, from when. */
export function FactorNotice() {
  const { factor_due, factor_due_at } = useMe();
  if (factor_due_at === null) return null;
  return (
    <div className="page factor-notice">
      <Notice tone="wait">
        <div className="line">
          <span className="grow">{factor_due ? words.factor.due : words.factor.soon(factor_due_at.slice(0, 10))}</span>
          {factor_due ? (
            <button type="button" className="button s" onClick={() => void signOut()}>
              {words.account.signOut}
            </button>
          ) : (
            <Link className="button s" to="/settings/account">
              {words.factor.add}
            </Link>
          )}
        </div>
      </Notice>
    </div>
  );
}
