import type { Outputs } from '../../../api/trpc.ts';
import { actionWord } from '../../settings/audit/action-words.ts';
import { targetOf } from '../holds/strings.ts';
import { words } from './strings.ts';

export const kinds = ['alarm', 'hold', 'worker', 'audit'] as const;
export type Kind = (typeof kinds)[number];

export interface Happening {
  readonly id: string;
  readonly kind: Kind;
  readonly at: string;
  readonly text: string;
  readonly by: string;
}

interface IncidentData {
  readonly holds: Outputs['holds']['list']['data'];
  readonly alarms: Outputs['alarms']['list']['data'];
  readonly workers: Outputs['ops']['workers']['data'];
  readonly audit: Outputs['audit']['list']['data'];
}

/** Returns every incident event, latest first. */
export function happeningsOf(
  { holds, alarms, workers, audit }: IncidentData,
  since: string,
  until: string,
): Happening[] {
  const all: Happening[] = [
    ...holds.flatMap((hold) => [
      {
        id: hold.id,
        kind: 'hold' as const,
        at: hold.created_at,
        text: words.held(targetOf(hold), hold.reason),
        by: hold.created_by.name,
      },
      ...(hold.ended_at === null
        ? []
        : [
            {
              id: `${hold.id} end`,
              kind: 'hold' as const,
              at: hold.ended_at,
              text: words.released(targetOf(hold)),
              by: '',
            },
          ]),
    ]),
    ...alarms.flatMap(({ id, title, detail, started_at, ended_at }) => [
      { id, kind: 'alarm' as const, at: started_at, text: words.raised(title, detail), by: '' },
      ...(ended_at === null
        ? []
        : [{ id: `${id} end`, kind: 'alarm' as const, at: ended_at, text: words.over(title), by: '' }]),
    ]),
    ...workers.flatMap(({ id, name, live, started_at, stopped_at, last_heartbeat_at }) => [
      { id, kind: 'worker' as const, at: started_at, text: words.workerStarted(name), by: '' },
      ...(stopped_at !== null
        ? [{ id: `${id} end`, kind: 'worker' as const, at: stopped_at, text: words.workerStopped(name), by: '' }]
        : live
          ? []
          : [
              { id: `${id} end`, kind: 'worker' as const, at: last_heartbeat_at, text: words.workerLost(name), by: '' },
            ]),
    ]),
    ...audit.map(({ id, at, action, actor, target_id, reason }) => ({
      id,
      kind: 'audit' as const,
      at,
      text: [actionWord(action), target_id, reason].filter(Boolean).join(' · '),
      by: actor.name,
    })),
  ];
  return all
    .filter(({ at }) => at >= since && at <= until)
    .toSorted((one, other) => (one.at < other.at ? 1 : one.at > other.at ? -1 : 0));
}
