import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { CalendarClock, RotateCcw, Send } from 'lucide-react';
import { may, useMe } from '../../../api/me.ts';
import { InvalidForm, problemOf } from '../../../api/problem.ts';
import { client, trpc } from '../../../api/trpc.ts';
import { Button } from '../../../parts/button.tsx';
import { calls } from '../../../parts/calls/api-calls.ts';
import { FormDialog } from '../../../parts/dialogs/form-dialog.tsx';
import { useAction } from '../../../parts/dialogs/use-action.ts';
import { Field } from '../../../parts/field.tsx';
import { isOpen } from '../../../parts/mail-status.tsx';
import { ReasonField, reasonIn } from '../../../parts/reason-field.tsx';
import { toast } from '../../../parts/toasts.tsx';
import type { Email, Waiting } from './email.ts';
import { words } from './strings.ts';

/** Shows the actions available for an email in its current state. Unavailable actions explain why. */
export function EmailActions({ email }: { readonly email: Email }) {
  const { action, open: ask, close } = useAction();
  const navigate = useNavigate();
  const open = isOpen(email.status);
  const untried = open && email.attempts.length === 0;
  const can_give_up = may(useMe(), 'admin') && open && !untried;
  return (
    <>
      {untried && (
        <Button needs="email:send" onClick={() => ask('reschedule')}>
          <CalendarClock size={14} />
          {words.actions.reschedule}
        </Button>
      )}
      <Button needs="email:send" onClick={() => ask('resend')}>
        {words.actions.resend}
      </Button>
      {can_give_up && (
        <Button kind="danger" onClick={() => ask('giveUp')}>
          {words.giveUp.submit}
        </Button>
      )}
      {open && !can_give_up && (
        <Button kind="danger" needs="email:send" onClick={() => ask('cancel')}>
          {words.actions.cancel}
        </Button>
      )}
      {action === 'reschedule' && <Reschedule email={email} onClose={close} />}
      {action === 'giveUp' && (
        <FormDialog
          {...words.giveUp}
          danger
          run={(form) => client.emails.giveUp.mutate({ id: email.id, reason: reasonIn(form) || undefined })}
          onDone={() => toast(words.giveUp.done)}
          onClose={close}
        >
          {(problems) => <ReasonField problem={problems.get('reason')} first />}
        </FormDialog>
      )}
      {action === 'cancel' && (
        <FormDialog
          title={words.actions.cancelTitle}
          about={words.actions.cancelAbout}
          keep={words.actions.keep}
          submit={words.actions.cancel}
          danger
          call={calls.cancelEmail(email.id)}
          run={() => client.emails.cancel.mutate({ id: email.id })}
          onDone={() => toast(words.actions.canceled)}
          onClose={close}
        />
      )}
      {action === 'resend' && (
        <FormDialog
          title={words.actions.resend}
          about={words.actions.resendAbout}
          submit={words.actions.resend}
          call={calls.resendEmail(email.id)}
          run={() => client.emails.resend.mutate({ id: email.id })}
          onDone={({ id }) => {
            toast(words.actions.resent);
            void navigate({ to: '/emails/$id', params: { id } });
          }}
          onClose={close}
        />
      )}
    </>
  );
}

const ends = {
  scheduled: ['sendNow', Send, words.actions.sentNow],
  retry_backoff: ['retryNow', RotateCcw, words.actions.retried],
} as const;

/** Shows the action that resolves a wait, if there is one. */
export function EndWait({ id, reason }: { readonly id: string; readonly reason: Waiting['reason'] }) {
  return (reason === 'scheduled' || reason === 'retry_backoff') && <End id={id} reason={reason} />;
}

function End({ id, reason }: { readonly id: string; readonly reason: keyof typeof ends }) {
  const [action, Icon, done] = ends[reason];
  const end = useMutation(
    trpc.emails[action].mutationOptions({
      onSuccess: () => toast(done),
      onError: (error) => toast(problemOf(error).message, 'bad'),
    }),
  );
  return (
    <Button small needs="email:send" onClick={() => end.mutate({ id })} busy={end.isPending}>
      <Icon size={14} />
      {words.actions[action]}
    </Button>
  );
}

function Reschedule({ email, onClose }: { readonly email: Email; readonly onClose: () => void }) {
  const text = words.actions;
  return (
    <FormDialog
      title={text.reschedule}
      submit={text.reschedule}
      call={calls.rescheduleEmail(email.id, email.scheduled_at ?? email.created_at)}
      run={async (form) => {
        const when = new Date(String(form.get('when')));
        if (Number.isNaN(when.getTime())) throw new InvalidForm({ scheduled_at: text.noTime });
        return client.emails.reschedule.mutate({ id: email.id, scheduled_at: when.toISOString() });
      }}
      onDone={() => toast(text.rescheduled)}
      onClose={onClose}
    >
      {(problems) => (
        <Field label={text.when} name="when" about={text.whenAbout} problem={problems.get('scheduled_at')}>
          {(control) => <input {...control} className="input" type="datetime-local" required />}
        </Field>
      )}
    </FormDialog>
  );
}
