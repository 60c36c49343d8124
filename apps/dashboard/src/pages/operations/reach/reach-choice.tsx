import { may, useMe } from '../../../api/me.ts';
import { Choices } from '../../../parts/field.tsx';
import { words } from './strings.ts';

export type Reach = 'workspace' | 'instance';

/** What the page covers: only operators may ask for the instance, and without admin in the workspace they get it. */
export function useReach(reach_param: 'instance' | undefined): Reach {
  const me = useMe();
  return may(me, 'operator') && (reach_param === 'instance' || !may(me, 'admin')) ? 'instance' : 'workspace';
}

/** The choice of an operator, as the search parameter that holds it; the workspace is the default. */
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
