import { client, type Outputs } from '../../../api/trpc.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { FormDialog } from '../../../parts/dialogs/form-dialog.tsx';
import { Field } from '../../../parts/field.tsx';
import { type Column, List } from '../../../parts/list.tsx';
import { CheckupBadge } from '../health/checkup-badge.tsx';
import { words } from './strings.ts';
import type { Transport } from './transport.ts';

type Check = Outputs['transports']['test']['checks'][number];

const text = words.testing;
/** Tests a transport, with an email if a recipient is given, and shows the result of each check. */
export function TestTransport({ transport, onClose }: { readonly transport: Transport; readonly onClose: () => void }) {
  return (
    <FormDialog
      title={text.title(transport.name)}
      about={text.about}
      submit={text.submit}
      run={(form) => {
        const [to, from] = [String(form.get('to')).trim(), String(form.get('from')).trim()];
        return client.transports.test.mutate({ transport_id: transport.id, ...(to && { to }), ...(from && { from }) });
      }}
      next={({ checks }) => <Results name={transport.name} checks={checks} onClose={onClose} />}
      onClose={onClose}
    >
      {(problems) => (
        <>
          <Field label={text.to} name="to" about={text.toAbout} problem={problems.get('to')}>
            {(control) => <input {...control} className="input" type="email" autoComplete="email" autoFocus />}
          </Field>
          <Field label={text.from} name="from" about={text.fromAbout} problem={problems.get('from')}>
            {(control) => <input {...control} className="input" autoComplete="off" />}
          </Field>
        </>
      )}
    </FormDialog>
  );
}

function Results({
  name,
  checks,
  onClose,
}: {
  readonly name: string;
  readonly checks: readonly Check[];
  readonly onClose: () => void;
}) {
  return (
    <Dialog title={text.title(name)} onClose={onClose}>
      <List
        label={text.results}
        columns={columns}
        rows={checks}
        idOf={(check) => check.name}
        nameOf={(check) => text.checks[check.name] ?? check.name}
      />
      <div className="actions">
        <button type="button" className="button primary" onClick={onClose}>
          {text.close}
        </button>
      </div>
    </Dialog>
  );
}

const columns: readonly Column<Check>[] = [
  { name: text.columns.check, width: 'fit', show: ({ name }) => <strong>{text.checks[name] ?? name}</strong> },
  {
    name: text.columns.status,
    width: 'fit',
    show: ({ status }) => <CheckupBadge status={status} />,
  },
  { name: text.columns.detail, wraps: true, show: ({ detail, fix }) => [detail, fix].filter(Boolean).join(' ') },
];
