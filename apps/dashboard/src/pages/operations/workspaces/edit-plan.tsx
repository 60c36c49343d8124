import { client, type Outputs } from '../../../api/trpc.ts';
import { FormDialog } from '../../../parts/dialogs/form-dialog.tsx';
import { Field } from '../../../parts/field.tsx';
import { ReasonField, reasonIn } from '../../../parts/reason-field.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { words } from './strings.ts';

type Plan = Outputs['plans']['list']['data'][number];

const text = words.plans;
/** The default limits of a new plan. */
const defaults = {
  monthly_emails: null,
  recipients_per_request: 50,
  send_per_minute: 1000,
  logs_per_minute: 60,
  default_per_minute: 120,
  sandbox_logs_per_minute: 600,
  sandbox_default_per_minute: 1200,
  workspace_rate: null,
  api_key_limit: null,
  domain_limit: null,
  webhook_limit: null,
  member_limit: null,
  transport_limit: 0,
  capture_bytes_limit: null,
} as const;

const limits = [
  ['monthly_emails', text.columns.monthly, text.monthlyAbout],
  ['recipients_per_request', text.columns.recipients, text.recipientsAbout],
  ['send_per_minute', text.columns.send, text.perKey],
  ['logs_per_minute', text.columns.logs, text.perKey],
  ['default_per_minute', text.columns.other, text.perKey],
  ['sandbox_logs_per_minute', text.sandboxLogs, text.perSandboxKey],
  ['sandbox_default_per_minute', text.sandboxOther, text.perSandboxKey],
  ['workspace_rate', text.workspaceRate, text.workspaceRateAbout],
  ['api_key_limit', text.held.apiKeys, text.held.about],
  ['domain_limit', text.held.domains, text.held.about],
  ['webhook_limit', text.held.webhooks, text.held.about],
  ['member_limit', text.held.members, text.held.about],
  ['transport_limit', text.held.transports, text.held.transportsAbout],
  ['capture_bytes_limit', text.held.captureBytes, text.held.about],
] as const;

/** Creates a plan or changes the limits of an existing plan. */
export function EditPlan({
  plan,
  onClose,
}: {
  /** Null creates a new plan. */
  readonly plan: Plan | null;
  readonly onClose: () => void;
}) {
  const before = plan ?? defaults;
  const save = (form: FormData) => {
    const name = plan?.name ?? String(form.get('name') ?? '').trim();
    const count = (field: string) => Number(form.get(field));
    const countOrNull = (field: string) => (String(form.get(field) ?? '').trim() === '' ? null : count(field));
    const fields = {
      name,
      monthly_emails: countOrNull('monthly_emails'),
      recipients_per_request: count('recipients_per_request'),
      send_per_minute: count('send_per_minute'),
      logs_per_minute: count('logs_per_minute'),
      default_per_minute: count('default_per_minute'),
      sandbox_logs_per_minute: count('sandbox_logs_per_minute'),
      sandbox_default_per_minute: count('sandbox_default_per_minute'),
      workspace_rate: countOrNull('workspace_rate'),
      api_key_limit: countOrNull('api_key_limit'),
      domain_limit: countOrNull('domain_limit'),
      webhook_limit: countOrNull('webhook_limit'),
      member_limit: countOrNull('member_limit'),
      transport_limit: countOrNull('transport_limit'),
      capture_bytes_limit: countOrNull('capture_bytes_limit'),
    };
    if (plan === null) return client.plans.create.mutate(fields);
    const reason = reasonIn(form);
    return client.plans.update.mutate({ ...fields, ...(reason && { reason }) });
  };
  return (
    <FormDialog
      title={plan === null ? text.creatingTitle : text.editingTitle(plan.name)}
      about={plan && text.about}
      submit={plan === null ? text.submitNew : text.submit}
      run={save}
      onDone={({ name }) => toast(plan === null ? text.made(name) : text.changed(name))}
      onClose={onClose}
    >
      {(problems) => (
        <>
          {plan === null && (
            <Field label={text.name} name="name" about={text.nameAbout} problem={problems.get('name')}>
              {(control) => (
                <input {...control} className="input mono" autoComplete="off" maxLength={40} required autoFocus />
              )}
            </Field>
          )}
          {limits.map(([field, label, description]) => (
            <Field key={field} label={label} name={field} about={description} problem={problems.get(field)}>
              {(control) => (
                <input
                  {...control}
                  className="input"
                  type="number"
                  min={(defaults[field] ?? 0) === 0 && field !== 'workspace_rate' ? 0 : 1}
                  defaultValue={before[field] ?? ''}
                />
              )}
            </Field>
          ))}
          {plan !== null && <ReasonField problem={problems.get('reason')} />}
        </>
      )}
    </FormDialog>
  );
}
