import { useQuery } from '@tanstack/react-query';
import { trpc } from '../../../api/trpc.ts';
import { CodeBlock } from '../../../parts/copy.tsx';
import { SecretDialog } from '../../../parts/dialogs/secret-dialog.tsx';
import { Notice } from '../../../parts/states.tsx';
import { words as parts } from '../../../parts/strings.ts';
import type { CreatedKey } from './key.ts';
import { words } from './strings.ts';

/** Shows the secret of a key, which is shown nowhere else. */
export function ShowSecret({
  made: created,
  note,
  onClose,
}: {
  readonly made: CreatedKey;
  readonly note?: string;
  readonly onClose: () => void;
}) {
  const domains = useQuery(trpc.domains.list.queryOptions({ limit: 20 }));
  const verified = created.mode === 'live' ? domains.data?.data.find(({ can_send }) => can_send)?.name : undefined;
  return (
    <SecretDialog
      title={words.secret.title(created.name)}
      words={words.secret}
      className="dialog wide"
      onClose={onClose}
    >
      <Notice tone="wait">
        <p>{words.secret.once}</p>
        {note !== undefined && <p>{note}</p>}
      </Notice>
      <div className="stack-s">
        <h3>{words.secret.key}</h3>
        <CodeBlock text={created.secret} what={parts.texts.apiKey} />
      </div>
      <div className="stack-s">
        <h3>{words.secret.env}</h3>
        <CodeBlock
          text={`POSTRIDER_URL=${location.origin}\nPOSTRIDER_API_KEY=${created.secret}`}
          what={parts.texts.env}
        />
      </div>
      <div className="stack-s">
        <h3>{words.secret.curl}</h3>
        <CodeBlock text={curlFor(created, verified ?? 'sandbox.test')} what={parts.texts.curl} />
      </div>
    </SecretDialog>
  );
}

function curlFor({ secret, scopes, domains }: CreatedKey, sender_domain: string): string {
  const sends = scopes.includes('email:send') || scopes.includes('admin');
  const head = `curl ${location.origin}/v1/`;
  const key = `-H 'Authorization: Bearer ${secret}'`;
  if (!sends) return `${head}api-keys/current ${key}`;
  const body = {
    from: `hello@${domains?.[0] ?? sender_domain}`,
    to: 'you@example.com',
    subject: 'My first email',
    text: 'It works.',
  };
  return `${head}email/send ${key} -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
}
