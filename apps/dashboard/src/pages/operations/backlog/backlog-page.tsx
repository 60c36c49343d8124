import './backlog.css';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Play, Snowflake } from 'lucide-react';
import { useState } from 'react';
import { may, useMe } from '../../../api/me.ts';
import { unlessFrozen } from '../../../api/polled.ts';
import { type Outputs, trpc } from '../../../api/trpc.ts';
import { Button } from '../../../parts/button.tsx';
import { Choices } from '../../../parts/field.tsx';
import { Page, PageHeader } from '../../../parts/page.tsx';
import { QueryView } from '../../../parts/states.tsx';
import { span } from '../../../parts/times.tsx';
import { BulkDialog } from '../bulk/bulk-dialog.tsx';
import { HoldForm } from '../holds/hold-form.tsx';
import { ReleaseHold } from '../holds/release-hold.tsx';
import { useReach } from '../reach/use-reach.ts';
import { agesOf, filterOf, heldBy } from './dimensions.ts';
import { LimitDestination, NewLimit } from './limit-destination.tsx';
import { LimitsPanel } from './limits-panel.tsx';
import { Matrix } from './matrix.tsx';
import { type BacklogAction, type Dimension, dimensions } from './search.ts';
import { words } from './strings.ts';

type Backlog = Outputs['ops']['backlog'];

const paths = { workspace: '/delivery/backlog', instance: '/instance/delivery/backlog' } as const;

export function BacklogPage() {
  const reach = useReach();
  const { by = 'destination', open } = useSearch({ from: `/shell${paths[reach]}` });
  const navigate = useNavigate({ from: paths[reach] });
  const operator = may(useMe(), 'operator');
  const [frozen, setFrozen] = useState(false);
  const backlog = useQuery(trpc.ops.backlog.queryOptions({ by, reach, top: 30 }, unlessFrozen(frozen)));
  const openDialog = (action: BacklogAction, target?: string, age?: number) =>
    void navigate({
      search: (search) => ({
        ...search,
        open: action,
        ...(target !== undefined && { target }),
        ...(age !== undefined && { age }),
      }),
    });
  return (
    <Page>
      <PageHeader
        title={words.title}
        answer={backlog.data && answerOf(backlog.data)}
        actions={
          <Button onClick={() => setFrozen(!frozen)}>
            {frozen ? <Play size={15} /> : <Snowflake size={15} />}
            {frozen ? words.live : words.freeze}
          </Button>
        }
      />
      <div className="line">
        <Choices<Dimension>
          label={words.by}
          options={dimensions.map((name) => [name, words.dimensions[name]] as const)}
          value={by}
          onChange={(name) => void navigate({ search: (search) => ({ ...search, by: name }) })}
        />
      </div>
      <QueryView query={backlog}>
        {(data) => <Matrix backlog={data} by={by} own={reach === 'workspace'} onOpen={openDialog} />}
      </QueryView>
      <p className="muted small">{words.heat}</p>
      {by === 'destination' && operator && <LimitsPanel onOpen={openDialog} />}
      {open && backlog.data && <RowDialog backlog={backlog.data} by={by} />}
    </Page>
  );
}

function RowDialog({ backlog, by }: { readonly backlog: Backlog; readonly by: Dimension }) {
  const path = paths[useReach()];
  const { open, target, age } = useSearch({ from: `/shell${path}` });
  const navigate = useNavigate({ from: path });
  const close = () =>
    void navigate({ search: ({ open: _, target: __, age: ___, ...search }) => search, replace: true });
  if (open === 'new_limit') return <NewLimit onClose={close} />;
  if (target === undefined) return null;
  const [scope, filter] = [heldBy(by), filterOf(by, target)];
  if (open === 'release') return <ReleaseHold id={target} onClose={close} />;
  if (open === 'hold') return scope && <HoldForm target={{ scope, value: target }} onClose={close} />;
  if (open === 'limit') return <LimitDestination destination={target} onClose={close} />;
  if (open === undefined || filter === null) return null;
  const { what: label, range } = agesOf(backlog.bucket_upper_minutes, age ?? null);
  const title = words.menu.title(words.menu[open], target, label);
  return <BulkDialog plan={{ action: open, filter: { ...filter, ...range() }, title }} onClose={close} />;
}

function answerOf({ total }: Backlog): string {
  if (total.total === 0) return words.answer.none;
  const old = total.counts.slice(1).reduce((sum, count) => sum + count, 0);
  const count = total.total.toLocaleString('en');
  return old === 0
    ? words.answer.calm(count)
    : words.answer.late(count, old.toLocaleString('en'), span(total.oldest_seconds ?? 0));
}
