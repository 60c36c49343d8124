import './backlog.css';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Play, Snowflake } from 'lucide-react';
import { useState } from 'react';
import { unlessFrozen } from '../../../api/polled.ts';
import { type Outputs, trpc } from '../../../api/trpc.ts';
import { Button } from '../../../parts/button.tsx';
import { Choices } from '../../../parts/field.tsx';
import { Page, PageHeader } from '../../../parts/page.tsx';
import { Answered } from '../../../parts/states.tsx';
import { span } from '../../../parts/times.tsx';
import { BulkDialog, type BulkPlan } from '../bulk/bulk-dialog.tsx';
import { ReleaseHold } from '../holds/release-hold.tsx';
import { ReachChoice, useReach } from '../reach/reach-choice.tsx';
import { type Dimension, dimensions } from './dimensions.ts';
import { HoldMail, type HoldPlan } from './hold-mail.tsx';
import { LimitDestination } from './limit-destination.tsx';
import { Matrix } from './matrix.tsx';
import { words } from './strings.ts';

type Backlog = Outputs['ops']['backlog'];

export function BacklogPage() {
  const { by = 'destination', reach: asked, limit } = useSearch({ from: '/shell/operations/backlog' });
  const navigate = useNavigate({ from: '/operations/backlog' });
  const [frozen, setFrozen] = useState(false);
  const [bulk, setBulk] = useState<BulkPlan>();
  const [hold, setHold] = useState<HoldPlan>();
  const [released, setReleased] = useState<string>();
  const reach = useReach(asked);
  const backlog = useQuery(trpc.ops.backlog.queryOptions({ by, reach, top: 30 }, unlessFrozen(frozen)));
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
      <div className="line spread">
        <Choices<Dimension>
          label={words.by}
          options={dimensions.map((name) => [name, words.dimensions[name]] as const)}
          value={by}
          onChange={(name) => void navigate({ search: (kept) => ({ ...kept, by: name }) })}
        />
        <ReachChoice
          reach={reach}
          onChange={(next) => void navigate({ search: ({ reach: _, ...kept }) => ({ ...kept, ...next }) })}
        />
      </div>
      <Answered query={backlog}>
        {(shown) => (
          <Matrix
            backlog={shown}
            by={by}
            own={reach === 'workspace'}
            onBulk={setBulk}
            onHold={setHold}
            onLimit={(destination) => void navigate({ search: (kept) => ({ ...kept, limit: destination }) })}
            onRelease={setReleased}
          />
        )}
      </Answered>
      <p className="muted small">{words.heat}</p>
      {bulk && <BulkDialog plan={bulk} onClose={() => setBulk(undefined)} />}
      {released !== undefined && (
        <ReleaseHold id={released} onClose={() => setReleased(undefined)} onReleased={() => void backlog.refetch()} />
      )}
      {limit !== undefined && (
        <LimitDestination
          destination={limit}
          onClose={() => void navigate({ search: ({ limit: _, ...kept }) => kept, replace: true })}
        />
      )}
      {hold && <HoldMail plan={hold} onClose={() => setHold(undefined)} />}
    </Page>
  );
}

function answerOf({ total }: Backlog): string {
  if (total.total === 0) return words.answer.none;
  const old = total.counts.slice(1).reduce((sum, count) => sum + count, 0);
  const count = total.total.toLocaleString('en');
  return old === 0
    ? words.answer.calm(count)
    : words.answer.late(count, old.toLocaleString('en'), span(total.oldest_seconds ?? 0));
}
