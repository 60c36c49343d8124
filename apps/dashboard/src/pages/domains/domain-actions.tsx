import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Ellipsis } from 'lucide-react';
import { may, useMe } from '../../api/me.ts';
import { trpc } from '../../api/trpc.ts';
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx';
import { Menu, MenuItem } from '../../parts/menu.tsx';
import { ReasonField, reasonIn } from '../../parts/reason-field.tsx';
import { toast } from '../../parts/toasts.tsx';
import type { Domain, DomainDialog } from './domain.ts';
import { words } from './strings.ts';

const text = words.actions;

interface Props {
  readonly domain: Domain;
  readonly action: Exclude<DomainDialog, 'remove'>;
  readonly onClose: () => void;
}

/** What is rarely done with a domain. Suspending is the operators'. */
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
  const cache = useQueryClient();
  const done = {
    onSuccess(domain: Domain) {
      cache.setQueryData(trpc.domains.get.queryKey({ domain: name }), domain);
      toast(text[action].done);
      onClose();
    },
  };
  const rotate = useMutation(trpc.domains.rotateKeys.mutationOptions(done));
  const suspend = useMutation(trpc.domains.suspend.mutationOptions(done));
  const resume = useMutation(trpc.domains.resume.mutationOptions(done));
  const { error, isPending } = { rotate, suspend, resume }[action];
  const submit = (form: FormData) => {
    if (action === 'suspend') suspend.mutate({ domain: name, reason: reasonIn(form) });
    else if (action === 'resume') resume.mutate({ domain: name });
    else rotate.mutate({ domain: name });
  };
  return (
    <FormDialog
      title={text[action].title(name)}
      intro={<p>{text[action].about}</p>}
      words={text[action]}
      error={error}
      busy={isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      {(problems) =>
        action === 'suspend' && (
          <ReasonField about={text.suspend.reason} most={200} problem={problems.get('reason')} required first />
        )
      }
    </FormDialog>
  );
}
