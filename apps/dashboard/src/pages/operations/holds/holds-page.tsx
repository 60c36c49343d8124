import { useMutation } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { CircleCheck, CirclePause, Play, Plus, Timer } from 'lucide-react';
import { type Outputs, trpc } from '../../../api/trpc.ts';
import { Badge } from '../../../parts/badge.tsx';
import { Button } from '../../../parts/button.tsx';
import { Check } from '../../../parts/field.tsx';
import { useKeyset } from '../../../parts/keyset.ts';
import { type Column, focusRowOf, KeysetList } from '../../../parts/list.tsx';
import { Page, PageHeader } from '../../../parts/page.tsx';
import { Empty, ErrorPanel } from '../../../parts/states.tsx';
import { RelativeTime } from '../../../parts/times.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { useReach } from '../reach/use-reach.ts';
import { HoldForm } from './hold-form.tsx';
import { ReleaseHold } from './release-hold.tsx';
import { targetOf, words } from './strings.ts';

type Hold = Outputs['holds']['list']['data'][number];

const paths = { workspace: '/delivery/holds', instance: '/instance/delivery/holds' } as const;

const badges = { active: ['wait', CirclePause], resuming: ['info', Timer], ended: ['calm', CircleCheck] } as const;

export function HoldsPage() {
  const path = paths[useReach()];
  const { open, destination, release, hold, ended: show_ended = false } = useSearch({ from: `/shell${path}` });
  const navigate = useNavigate({ from: path });
  const search = show_ended ? { ended: show_ended } : {};
  const list = useKeyset(trpc.holds.list, { limit: 100, active: !show_ended });
  const lift = useMutation(
    trpc.holds.release.mutationOptions({ onSuccess: (hold) => toast(words.released(targetOf(hold))) }),
  );
  const close = () => {
    void navigate({ search, replace: true });
    focusRowOf(release);
  };
  const active = (list.rows ?? []).filter(({ status }) => status === 'active');
  const affected = active.reduce((sum, hold) => sum + hold.affected, 0);
  const create = (
    <Button kind="primary" needs="admin" onClick={() => void navigate({ search: { ...search, open: 'new' } })}>
      <Plus size={15} />
      {words.create}
    </Button>
  );
  return (
    <Page>
      <PageHeader
        title={words.title}
        answer={list.rows && (active.length === 0 ? words.answer.none : words.answer.some(active.length, affected))}
        actions={create}
      />
      {lift.error !== null && <ErrorPanel error={lift.error} />}
      <KeysetList
        label={words.title}
        list={list}
        columns={columns({
          release: ({ id }) => void navigate({ search: { ...search, release: id } }),
          lift: ({ id }) => lift.mutate({ hold_id: id, at_once: true }),
        })}
        idOf={({ id }) => id}
        marked={hold}
        nameOf={targetOf}
        freshWord={words.newRows}
        empty={
          <Empty title={words.empty.title}>
            <p>{words.empty.about}</p>
          </Empty>
        }
      />
      <Check
        name="ended"
        label={words.ended}
        checked={show_ended}
        onChange={(checked) => void navigate({ search: checked ? { ended: checked } : {}, replace: true })}
      />
      {open === 'new' && (
        <HoldForm
          {...(destination !== undefined && { target: { scope: 'destination', value: destination } })}
          onClose={() => void navigate({ search, replace: true })}
        />
      )}
      {release !== undefined && <ReleaseHold id={release} onClose={close} />}
    </Page>
  );
}

interface Actions {
  readonly release: (hold: Hold) => void;
  readonly lift: (hold: Hold) => void;
}

function columns({ release, lift }: Actions): readonly Column<Hold>[] {
  const { scope, value, reason, affected, by, since, ends, state } = words.columns;
  return [
    { name: scope, width: 'fit', less: true, show: (row) => words.scopes[row.scope] },
    { name: value, width: '20%', show: (row) => <strong className="mono small">{targetOf(row)}</strong> },
    { name: reason, show: (row) => <span title={row.reason}>{row.reason}</span> },
    { name: affected, width: 'fit', end: true, less: true, show: (row) => <span className="num">{row.affected}</span> },
    { name: by, width: '14%', less: 'unless-wide', show: (row) => row.created_by.name },
    { name: since, width: 'fit', less: 'unless-wide', show: ({ created_at }) => <RelativeTime at={created_at} /> },
    {
      name: ends,
      width: 'fit',
      less: true,
      show: ({ ended_at, expires_at }) => {
        const end = ended_at ?? expires_at;
        return end === null ? words.endless : <RelativeTime at={end} upcoming={ended_at === null} />;
      },
    },
    {
      name: state,
      width: 'fit',
      less: true,
      show: ({ status, resume_rate_per_minute: rate }) => {
        const [tone, icon] = badges[status];
        return (
          <Badge tone={tone} icon={icon} title={rate === null ? undefined : words.rate(rate)}>
            {words.states[status]}
          </Badge>
        );
      },
    },
    {
      name: '',
      width: 'fit',
      end: true,
      show: (row) =>
        row.status !== 'ended' && (
          <Button small needs="admin" onClick={() => (row.status === 'active' ? release(row) : lift(row))}>
            <Play size={14} />
            {row.status === 'active' ? words.release : words.atOnce}
          </Button>
        ),
    },
  ];
}
