import { useMutation } from '@tanstack/react-query';
import { useMe } from '../../../api/me.ts';
import { problemOf } from '../../../api/problem.ts';
import { goToSignIn } from '../../../api/session.ts';
import { trpc } from '../../../api/trpc.ts';
import { Button } from '../../../parts/button.tsx';
import { Field, Form } from '../../../parts/field.tsx';
import { Page, PageHeader, Panel } from '../../../parts/page.tsx';
import { ErrorPanel } from '../../../parts/states.tsx';
import './account.css';
import { NameForm } from './name-form.tsx';
import { Notices } from './notices.tsx';
import { SecondFactor } from './second-factor.tsx';
import { Sessions } from './sessions.tsx';
import { words } from './strings.ts';

export function AccountPage() {
  const { email, factor_due } = useMe();
  const change = useMutation(trpc.people.changePassword.mutationOptions({ onSuccess: goToSignIn }));
  const problems = change.error === null ? null : problemOf(change.error).fields;
  const submit = (form: FormData) => {
    const current_password = String(form.get('current_password'));
    change.mutate({
      ...(current_password !== '' && { current_password }),
      new_password: String(form.get('new_password')),
    });
  };
  return (
    <Page>
      <PageHeader title={words.title} answer={email} />
      <SecondFactor />
      {!factor_due && <NameForm />}
      <Panel title={words.password}>
        <Form label={words.password} onSubmit={submit} fault={change.error}>
          <p>{words.about}</p>
          {problems?.size === 0 && <ErrorPanel error={change.error} />}
          <input type="email" autoComplete="username" value={email} readOnly hidden />
          <Field label={words.current} name="current_password" about={words.currentAbout}>
            {(control) => <input {...control} className="input" type="password" autoComplete="current-password" />}
          </Field>
          <Field label={words.next} name="new_password" about={words.nextAbout} problem={problems?.get('new_password')}>
            {(control) => <input {...control} className="input" type="password" autoComplete="new-password" required />}
          </Field>
          <div className="actions">
            <Button kind="primary" type="submit" busy={change.isPending}>
              {words.password}
            </Button>
          </div>
        </Form>
      </Panel>
      <Sessions />
      <Notices />
    </Page>
  );
}
