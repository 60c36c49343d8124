import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { CalendarClock, RotateCcw, Send } from 'lucide-react';
import { useState } from 'react';
import { problemOf } from '../../../api/problem.ts';
import { client, trpc } from '../../../api/trpc.ts';
import { Button } from '../../../parts/button.tsx';
import { calls } from '../../../parts/calls/api-calls.ts';
import { SameByApi } from '../../../parts/calls/same-by-api.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { FormDialog } from '../../../parts/dialogs/form-dialog.tsx';
import { Field, Form } from '../../../parts/field.tsx';
import { isOpen } from '../../../parts/mail-status.tsx';
import { ReasonField, reasonIn } from '../../../parts/reason-field.tsx';
import { ErrorPanel } from '../../../parts/states.tsx';
import { toast } from '../../../parts/toasts.tsx';
import type { Email, Waiting } from './email.ts';
import { words } from './strings.ts';

type Action = 'cancel' | 'reschedule' | 'sendNow' | 'retryNow' | 'resend';

interface Props {
  readonly email: Email;
  readonly onChanged: () => void;
  /** Show only the action that ends this wait. */
  readonly ends?: Waiting['reason'];
}

/** What can be done with a mail in its state; what cannot be done says why. */
export function EmailActions({ email, onChanged, ends }: Props) {
  const [asked, setAsked] = useState<'cancel' | 'reschedule' | 'resend' | 'giveUp' | null>(null);
  const actions = useActions(email, onChanged);
  const close = () => setAsked(null);
  if (ends !== undefined) {
    if (ends === 'scheduled') {
      return (
        <Button small needs="email:send" onClick={() => actions.run('sendNow')} busy={actions.busy}>
          <Send size={14} />
          {words.actions.sendNow}
        </Button>
      );
    }
    if (ends !== 'retry_backoff') return null;
    return (
      <Button small needs="email:send" onClick={() => actions.run('retryNow')} busy={actions.busy}>
        <RotateCcw size={14} />
        {words.actions.retryNow}
      </Button>
    );
  }
  const open = isOpen(email.status);
  const untried = open && email.attempts.length === 0;
  return (
    <>
      {untried && (
        <Button needs="email:send" onClick={() => setAsked('reschedule')}>
          <CalendarClock size={14} />
          {words.actions.reschedule}
        </Button>
      )}
      <Button needs="email:send" onClick={() => setAsked('resend')}>
        {words.actions.resend}
      </Button>
      {open && !untried && (
        <Button kind="danger" needs="admin" onClick={() => setAsked('giveUp')}>
          {words.giveUp.submit}
        </Button>
      )}
      {open && (
        <Button kind="danger" needs="email:send" onClick={() => setAsked('cancel')}>
          {words.actions.cancel}
        </Button>
      )}
      {asked === 'giveUp' && <GiveUp email={email} onClose={close} onChanged={onChanged} />}
      {asked === 'reschedule' && <Reschedule email={email} onClose={close} onChanged={onChanged} />}
      {(asked === 'cancel' || asked === 'resend') && (
        <Dialog title={words.actions[asked]} onClose={close}>
          {actions.error !== null && <ErrorPanel error={actions.error} />}
          <p>{asked === 'cancel' ? words.actions.cancelAbout : words.actions.resendAbout}</p>
          <div className="actions">
            <Button
              kind={asked === 'cancel' ? 'danger primary' : 'primary'}
              busy={actions.busy}
              onClick={() => actions.run(asked, close)}
            >
              {words.actions[asked]}
            </Button>
          </div>
          <SameByApi call={asked === 'cancel' ? calls.cancelEmail(email.id) : calls.resendEmail(email.id)} />
        </Dialog>
      )}
    </>
  );
}

function useActions({ id }: Email, onChanged: () => void) {
  const navigate = useNavigate();
  const change = useMutation({
    mutationFn: async (action: Exclude<Action, 'reschedule'>) => {
      if (action === 'resend') return (await client.emails.resend.mutate({ id })).id;
      await client.emails[action].mutate({ id });
      return null;
    },
    onError: (error) => toast(problemOf(error).message, 'bad'),
  });
  const told = { cancel: 'canceled', sendNow: 'sentNow', retryNow: 'retried', resend: 'resent' } as const;
  return {
    busy: change.isPending,
    error: change.error,
    run(action: Exclude<Action, 'reschedule'>, done: () => void = () => undefined) {
      change.mutate(action, {
        onSuccess(made) {
          toast(words.actions[told[action]]);
          onChanged();
          done();
          if (made !== null) void navigate({ to: '/emails/$id', params: { id: made } });
        },
      });
    },
  };
}

function GiveUp({ email: { id }, onClose, onChanged }: Omit<Props, 'ends'> & { readonly onClose: () => void }) {
  const giveUp = useMutation(
    trpc.emails.giveUp.mutationOptions({
      onSuccess() {
        toast(words.giveUp.done);
        onChanged();
        onClose();
      },
    }),
  );
  return (
    <FormDialog
      title={words.giveUp.title}
      intro={<p>{words.giveUp.about}</p>}
      words={words.giveUp}
      error={giveUp.error}
      busy={giveUp.isPending}
      onSubmit={(form) => giveUp.mutate({ id, reason: reasonIn(form) || undefined })}
      onClose={onClose}
    >
      {(problems) => <ReasonField problem={problems.get('reason')} first />}
    </FormDialog>
  );
}

function Reschedule({
  email,
  onClose,
  onChanged,
}: {
  readonly email: Email;
  readonly onClose: () => void;
  readonly onChanged: () => void;
}) {
  const change = useMutation({
    mutationFn: (scheduled_at: string) => client.emails.reschedule.mutate({ id: email.id, scheduled_at }),
    onSuccess() {
      toast(words.actions.rescheduled);
      onChanged();
      onClose();
    },
  });
  const problem = change.error === null ? undefined : problemOf(change.error).message;
  const submit = (form: FormData) => {
    const local = new Date(String(form.get('when')));
    if (!Number.isNaN(local.getTime())) change.mutate(local.toISOString());
  };
  return (
    <Dialog title={words.actions.reschedule} onClose={onClose}>
      <Form label={words.actions.reschedule} onSubmit={submit} fault={problem}>
        <Field label={words.actions.when} name="when" about={words.actions.whenAbout} problem={problem}>
          {(control) => <input {...control} className="input" type="datetime-local" required />}
        </Field>
        <div className="actions">
          <Button kind="primary" type="submit" busy={change.isPending}>
            {words.actions.reschedule}
          </Button>
        </div>
      </Form>
      <SameByApi call={calls.rescheduleEmail(email.id, email.scheduled_at ?? email.created_at)} />
    </Dialog>
  );
}
