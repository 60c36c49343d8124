import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { Send } from 'lucide-react';
import { type FormEvent, useId, useState } from 'react';
import { useMe } from '../../api/me.ts';
import { problemOf } from '../../api/problem.ts';
import { type Inputs, trpc } from '../../api/trpc.ts';
import { Button } from '../../parts/button.tsx';
import { curlOf } from '../../parts/calls/curl.ts';
import { CodeBlock } from '../../parts/copy.tsx';
import { Field, Form } from '../../parts/field.tsx';
import { Page, PageHeader, Panel } from '../../parts/page.tsx';
import { ErrorPanel, Skeleton } from '../../parts/states.tsx';
import { words as parts } from '../../parts/strings.ts';
import { toast } from '../../parts/toasts.tsx';
import { domainIn } from '../emails/detail/email.ts';
import { words } from './strings.ts';

type Mail = Inputs['test']['send'];
type Attachment = NonNullable<Mail['attachments']>[number];

// A procedure's input is limited to 100 kB, and base64 adds a third.
const MAX_BYTES = 60_000;

/** Composes one email. The panel next to the form shows the equivalent API request. */
const head = <PageHeader title={words.title} answer={words.answer} />;

export function ComposePage() {
  const me = useMe();
  const navigate = useNavigate();
  const domains = useQuery(trpc.domains.list.queryOptions({ limit: 20 }));
  const verified = domains.data?.data.filter(({ can_send }) => can_send).map(({ name }) => name) ?? [];
  const senders = verified.length > 0 ? verified : ['sandbox.test'];
  const [mail, setMail] = useState<Mail | null>(null);
  const typed = domainIn(String(mail?.from ?? ''));
  const pending = domains.data?.data.find(
    ({ name, can_send, status }) => !can_send && status !== 'verified' && name === typed,
  );
  const [attachments, setAttachments] = useState<readonly Attachment[]>([]);
  const [tooLarge, setTooLarge] = useState(false);
  const send = useMutation(
    trpc.test.send.mutationOptions({
      onSuccess({ id }) {
        toast(words.sent);
        void navigate({ to: '/emails/$id', params: { id } });
      },
    }),
  );
  // The form's default sender is not known yet.
  if (!domains.data && !domains.error) {
    return (
      <Page>
        {head}
        <Skeleton />
      </Page>
    );
  }
  const first: Mail = {
    from: `hello@${senders[0]}`,
    to: [me.email],
    subject: words.start.subject,
    text: words.start.text,
  };
  const problem = send.error === null ? null : problemOf(send.error);
  const messageOf = (name: string) => [...(problem?.fields ?? [])].find(([path]) => path.startsWith(name))?.[1];
  const attach = async (files: FileList | null) => {
    const list = [...(files ?? [])];
    const large = list.reduce((sum, { size }) => sum + size, 0) > MAX_BYTES;
    setTooLarge(large);
    setAttachments(large ? [] : await Promise.all(list.map(readAttachment)));
  };
  return (
    <Page>
      {head}
      <div className="compose">
        <div
          onInput={(event: FormEvent<HTMLDivElement>) => {
            const form = event.currentTarget.querySelector('form');
            if (form) setMail(mailOf(new FormData(form)));
          }}
        >
          <Form
            label={words.title}
            fault={problem}
            onSubmit={(form) =>
              send.mutate({ ...mailOf(form), ...(attachments.length > 0 && { attachments: [...attachments] }) })
            }
          >
            {send.error !== null && problem?.fields.size === 0 && <ErrorPanel error={send.error} />}
            <Line
              name="from"
              label={words.from}
              about={words.fromAbout}
              start={String(first.from)}
              problem={messageOf('from')}
              senders={senders}
            />
            {pending !== undefined && messageOf('from') !== undefined && (
              <Link to="/domains/$name" params={{ name: pending.name }}>
                {words.openDomain(pending.name)}
              </Link>
            )}
            <Line name="to" label={words.to} about={words.toAbout} start={me.email} problem={messageOf('to')} />
            <Line name="subject" label={words.subject} start={String(first.subject)} problem={messageOf('subject')} />
            <Field label={words.text} name="text" problem={messageOf('text')}>
              {(control) => <textarea {...control} className="input" rows={5} defaultValue={words.start.text} />}
            </Field>
            <Field label={words.html} name="html" about={words.htmlAbout} problem={messageOf('html')}>
              {(control) => <textarea {...control} className="input mono" rows={4} spellCheck={false} />}
            </Field>
            <Line name="tags" label={words.tags} about={words.tagsAbout} start="" problem={messageOf('tags')} />
            <Field label={words.schedule} name="when" about={words.scheduleAbout} problem={messageOf('scheduled_at')}>
              {(control) => <input {...control} className="input" type="datetime-local" />}
            </Field>
            <Field
              label={words.attach}
              name="files"
              about={words.attachAbout}
              problem={tooLarge ? words.tooLarge : messageOf('attachments')}
            >
              {(control) => (
                <input
                  {...control}
                  className="input"
                  type="file"
                  multiple
                  onChange={(event) => void attach(event.currentTarget.files)}
                />
              )}
            </Field>
            <div>
              <Button kind="primary" type="submit" needs="email:send" busy={send.isPending}>
                <Send size={14} />
                {mail?.scheduled_at ? words.scheduleEmail : words.submit}
              </Button>
            </div>
          </Form>
        </div>
        <Panel title={words.request}>
          <CodeBlock
            text={curlOf({
              ...(mail ?? first),
              ...(attachments.length > 0 && {
                attachments: attachments.map((one) => ({ ...one, content: `<base64 of ${one.filename}>` })),
              }),
            })}
            what={parts.texts.curl}
          />
        </Panel>
      </div>
    </Page>
  );
}

function Line({
  name,
  label,
  about: description,
  start,
  problem,
  senders,
}: {
  readonly name: string;
  readonly label: string;
  readonly about?: string;
  readonly start: string;
  readonly problem: string | undefined;
  /** Domains to suggest addresses of. */
  readonly senders?: readonly string[];
}) {
  const list = useId();
  return (
    <Field label={label} name={name} about={description} problem={problem}>
      {(control) => (
        <>
          <input {...control} className="input" autoComplete="off" defaultValue={start} list={senders && list} />
          {senders && (
            <datalist id={list}>
              {senders.map((domain) => (
                <option key={domain} value={`hello@${domain}`} />
              ))}
            </datalist>
          )}
        </>
      )}
    </Field>
  );
}

function mailOf(form: FormData): Mail {
  const text = (name: string) => String(form.get(name) ?? '').trim();
  const list = (name: string) =>
    text(name)
      .split(',')
      .map((part) => part.trim())
      .filter(Boolean);
  const when = text('when') === '' ? null : new Date(text('when'));
  return {
    from: text('from'),
    to: list('to'),
    subject: text('subject'),
    ...(text('html') !== '' && { html: text('html') }),
    ...(text('text') !== '' && { text: text('text') }),
    ...(list('tags').length > 0 && { tags: list('tags') }),
    ...(when && !Number.isNaN(when.getTime()) && { scheduled_at: when.toISOString() }),
  };
}

async function readAttachment(file: File): Promise<Attachment> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const content = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  return { filename: file.name, content, ...(file.type && { content_type: file.type }) };
}
