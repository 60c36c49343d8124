import { Ellipsis } from 'lucide-react';
import { may, useMe } from '../../api/me.ts';
import { client } from '../../api/trpc.ts';
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx';
import { Menu, MenuItem } from '../../parts/menu.tsx';
import { ReasonField, reasonIn } from '../../parts/reason-field.tsx';
import { toast } from '../../parts/toasts.tsx';
import type { DomainDialog } from './dialogs.ts';
import type { Domain } from './domain.ts';
import { words } from './strings.ts';

const text = words.actions;

interface Props {
  readonly domain: Domain;
  readonly action: Exclude<DomainDialog, 'remove'>;
  readonly onClose: () => void;
}

/** Shows rarely used actions on a domain. Only operators can suspend a domain. */
export function DomainMenu({
  domain,
  onOpen,
}: Pick<Props, 'domain'> & { readonly onOpen: (to: DomainDialog) => void }) {
  const operator = may(useMe(), 'operator');
  return (
    <Menu label={text.menu} button={<Ellipsis size={14} />}>
      <MenuItem needs="domains:write" onSelect={() => onOpen('rotate')}>
        {text.rotate.submit}
      </MenuItem>
      {operator && domain.status === 'suspended' && (
        <MenuItem onSelect={() => onOpen('resume')}>{text.resume.submit}</MenuItem>
      )}
      {operator && domain.status !== 'suspended' && (
        <MenuItem onSelect={() => onOpen('suspend')}>{text.suspend.submit}</MenuItem>
      )}
      <MenuItem needs="domains:write" onSelect={() => onOpen('remove')}>
        {text.remove}
      </MenuItem>
    </Menu>
  );
}

export function DomainAction({ domain: { name }, action, onClose }: Props) {
  const { done, title, ...dialog } = text[action];
  const run = (form: FormData) => {
    if (action === 'suspend') return client.domains.suspend.mutate({ domain: name, reason: reasonIn(form) });
    return action === 'resume'
      ? client.domains.resume.mutate({ domain: name })
      : client.domains.rotateKeys.mutate({ domain: name });
  };
  return (
    <FormDialog {...dialog} title={title(name)} run={run} onDone={() => toast(done)} onClose={onClose}>
      {action === 'suspend'
        ? (problems) => (
            <ReasonField about={text.suspend.reason} most={200} problem={problems.get('reason')} required first />
          )
        : () => null}
    </FormDialog>
  );
}
