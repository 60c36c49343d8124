import { useMutation } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { BellRing, CircleCheck } from 'lucide-react';
import { type Outputs, trpc } from '../../../api/trpc.ts';
import { Badge } from '../../../parts/badge.tsx';
import { Button } from '../../../parts/button.tsx';
import { Check } from '../../../parts/field.tsx';
import { useKeyset } from '../../../parts/keyset.ts';
import { type Column, KeysetList } from '../../../parts/list.tsx';
import { Panel } from '../../../parts/page.tsx';
import { ErrorPanel } from '../../../parts/states.tsx';
import { RelativeTime } from '../../../parts/times.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { routeOf } from '../../../shell/paths.ts';
import { paths } from './paths.ts';
import { words } from './strings.ts';

type Alarm = Outputs['alarms']['list']['data'][number];

/** Lists the alerts of the workspace or of the instance. */
export function AlarmList({ access }: { readonly access: keyof typeof paths }) {
  const { ended: show_ended = false } = useSearch({ from: `/shell${paths[access]}` });
  const navigate = useNavigate({ from: paths[access] });
  const text = words.list;
  const list = useKeyset(trpc.alarms.list, { limit: 50, active: !show_ended, access });
  const acknowledge = useMutation(
    trpc.alarms.acknowledge.mutationOptions({ onSuccess: () => toast(text.acknowledged) }),
  );
  return (
    <Panel title={text.title} bare>
      {acknowledge.error !== null && <ErrorPanel error={acknowledge.error} />}
      <KeysetList
        label={text.title}
        list={list}
        columns={columns((alarm_id) => acknowledge.mutate({ alarm_id }))}
        idOf={({ id }) => id}
        nameOf={({ title }) => title}
        freshWord={text.fresh}
        empty={
          <p className="pad muted">
            <strong>{text.empty[access][0]}</strong> {text.empty[access][1]}
          </p>
        }
      />
      <div className="pad">
        <Check
          name="ended"
          label={text.ended}
          checked={show_ended}
          onChange={(checked) => void navigate({ search: checked ? { ended: true } : {}, replace: true })}
        />
      </div>
    </Panel>
  );
}

function columns(acknowledge: (id: string) => void): readonly Column<Alarm>[] {
  const text = words.list;
  return [
    {
      name: text.columns.state,
      width: 'fit',
      show: ({ status }) =>
        status === 'active' ? (
          <Badge tone="bad" icon={BellRing}>
            {text.active}
          </Badge>
        ) : (
          <Badge tone="good" icon={CircleCheck}>
            {text.over}
          </Badge>
        ),
    },
    {
      name: text.columns.title,
      width: '26%',
      show: ({ title, page }) => (
        <Link className="row-link" to={routeOf(page)}>
          {title}
        </Link>
      ),
    },
    {
      name: text.columns.detail,
      wraps: true,
      less: true,
      show: ({ detail, notice_dropped_at }) => (notice_dropped_at === null ? detail : `${detail} ${text.undelivered}`),
    },
    { name: text.columns.since, width: 'fit', less: true, show: ({ started_at }) => <RelativeTime at={started_at} /> },
    {
      name: text.columns.known,
      width: 'fit',
      end: true,
      show: ({ id, status, acknowledged_by }) =>
        acknowledged_by ??
        (status === 'active' && (
          <Button small onClick={() => acknowledge(id)}>
            {text.acknowledge}
          </Button>
        )),
    },
  ];
}
