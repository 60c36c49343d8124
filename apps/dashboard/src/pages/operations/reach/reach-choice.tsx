import { may, useMe } from '../../../api/me.ts';
import { Choices } from '../../../parts/field.tsx';
import { words } from './strings.ts';

export type Reach = 'workspace' | 'instance';

/**
 * Returns the scope of the page. Only operators can view the instance, and operators without admin in the workspace
 * always view it.
 */
export function useReach(reach_param: 'instance' | undefined): Reach {
  const me = useMe();
  return may(me, 'operator') && (reach_param === 'instance' || !may(me, 'admin')) ? 'instance' : 'workspace';
}

/** Lets an operator choose the scope of the page. The choice is a search parameter and defaults to the workspace. */
export function ReachChoice({
  reach,
  onChange,
}: {
  readonly reach: Reach;
  readonly onChange: (search: { readonly reach?: 'instance' }) => void;
}) {
  if (!may(useMe(), 'operator')) return null;
  return (
    <Choices<Reach>
      label={words.label}
      options={[
        ['workspace', words.workspace],
        ['instance', words.instance],
      ]}
      value={reach}
      onChange={(name) => onChange(name === 'instance' ? { reach: name } : {})}
    />
  );
}
