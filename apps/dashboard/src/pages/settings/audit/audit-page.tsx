import { useMutation } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { ShieldCheck } from 'lucide-react';
import { client, type Outputs, trpc } from '../../../api/trpc.ts';
import { Button } from '../../../parts/button.tsx';
import { CodeBlock, Id } from '../../../parts/copy.tsx';
import { Drawer } from '../../../parts/dialog.tsx';
import { Field, Form } from '../../../parts/field.tsx';
import { useKeyset } from '../../../parts/keyset.ts';
import { type Column, focusRowOf, KeysetList } from '../../../parts/list.tsx';
import { Facts, Page, PageHeader } from '../../../parts/page.tsx';
import { Empty, ErrorPanel, Notice } from '../../../parts/states.tsx';
import { ExactTime, RelativeTime } from '../../../parts/times.tsx';
import { type Reach, useReach } from '../../operations/reach/use-reach.ts';
import { words } from './strings.ts';

type Entry = Outputs['audit']['list']['data'][number];
type Verification = Outputs['audit']['verify'];

const paths = { workspace: '/settings/audit-log', instance: '/instance/audit-log' } as const;

export function AuditPage() {
  const chain = useReach();
  const { target, open } = useSearch({ from: `/shell${paths[chain]}` });
  const navigate = useNavigate({ from: paths[chain] });
  const list = useKeyset(trpc.audit.list, { limit: 100, chain, ...(target && { target_id: target }) });
  const entry = list.rows?.find(({ id }) => id === open);
  const close = () => {
    void navigate({ search: ({ open: _, ...search }) => search, replace: true });
    focusRowOf(open);
  };
  const verify = useMutation({ mutationFn: () => client.audit.verify.query({ chain }) });
  const show = (id: string | undefined) => void navigate({ search: id ? { target: id } : {} });
  return (
    <Page>
      <PageHeader
        title={words.title}
        answer={words.answer[chain]}
        actions={
          <Button onClick={() => verify.mutate()} busy={verify.isPending}>
            <ShieldCheck size={15} />
            {words.verify}
          </Button>
        }
      />
      {verify.error !== null && <ErrorPanel error={verify.error} />}
      {verify.data && <VerificationResult result={verify.data} />}
      {target === undefined ? (
        <TargetForm onFilter={show} />
      ) : (
        <div className="line">
          <span className="chip">
            {words.target} {target}
          </span>
          <Button small onClick={() => show(undefined)}>
            {words.all}
          </Button>
        </div>
      )}
      <KeysetList
        label={words.title}
        list={list}
        columns={columnsOf(paths[chain])}
        idOf={({ id }) => id}
        nameOf={({ action, target_id }) => `${action} ${target_id}`}
        freshWord={words.newRows}
        onOpen={({ id }) => void navigate({ search: (search) => ({ ...search, open: id }) })}
        empty={
          <Empty title={words.empty.title}>
            <p>{words.empty.about}</p>
          </Empty>
        }
      />
      {entry && <EntryDrawer entry={entry} onClose={close} />}
    </Page>
  );
}

function TargetForm({ onFilter }: { readonly onFilter: (id: string) => void }) {
  return (
    <Form label={words.filter} onSubmit={(form) => onFilter(String(form.get('target') ?? '').trim())}>
      <div className="line low">
        <Field label={words.target} name="target">
          {(control) => (
            <input {...control} className="input mono" autoComplete="off" placeholder="key_… dom_… whk_…" />
          )}
        </Field>
        <button type="submit" className="button">
          {words.filter}
        </button>
      </div>
    </Form>
  );
}

function VerificationResult({ result }: { readonly result: Verification }) {
  const { broken, complete, verified, length } = result;
  if (broken) {
    return (
      <Notice tone="bad" alert>
        <p>{words.broken(broken.sequence, broken.problem)}</p>
      </Notice>
    );
  }
  return (
    <Notice tone="good">
      <p>{complete ? words.verified(length) : words.partly(verified, length)}</p>
    </Notice>
  );
}

const { at, actor, action, target: targetWord, via, reason } = words.columns;
const columnsOf = (path: (typeof paths)[Reach]): readonly Column<Entry>[] => [
  { name: at, width: 'fit', show: (row) => <RelativeTime at={row.at} /> },
  { name: actor, width: '20%', less: true, show: (row) => <span title={row.actor.id}>{row.actor.name}</span> },
  {
    name: action,
    width: '20%',
    show: (row) => (
      <Link
        className="row-link mono small"
        from={path}
        search={({ open: _, ...search }) => ({ ...search, open: row.id })}
      >
        {row.action}
      </Link>
    ),
  },
  { name: targetWord, width: 'fit', show: (row) => <Id id={row.target_id} /> },
  { name: via, width: 'fit', less: true, show: (row) => <span className="chip">{row.via}</span> },
  { name: reason, less: true, show: (row) => <span title={row.reason ?? ''}>{row.reason}</span> },
];

function EntryDrawer({ entry, onClose }: { readonly entry: Entry; readonly onClose: () => void }) {
  return (
    <Drawer title={entry.action} onClose={onClose}>
      <Facts
        rows={[
          [words.columns.at, <ExactTime key="at" at={entry.at} />],
          [words.columns.actor, `${entry.actor.name} (${entry.actor.kind})`],
          [words.columns.target, <Id key="target" id={entry.target_id} whole />],
          [words.columns.via, entry.via],
          [words.columns.reason, entry.reason],
          [words.address, entry.address],
          [words.request, <Id key="request" id={entry.request_id} />],
          [words.sequence, String(entry.sequence)],
        ]}
      />
      {entry.diff && <CodeBlock what={words.change} text={JSON.stringify(entry.diff, null, 2)} />}
    </Drawer>
  );
}
