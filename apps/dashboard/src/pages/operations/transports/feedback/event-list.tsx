import { Link } from '@tanstack/react-router';
import { CircleCheck, CircleSlash, CircleX, Clock, Flag, Undo2, Unlink } from 'lucide-react';
import { Badge } from '../../../../parts/badge.tsx';
import { shortId } from '../../../../parts/copy.tsx';
import { type Column, List } from '../../../../parts/list.tsx';
import { RelativeTime } from '../../../../parts/times.tsx';
import type { FeedbackEvent } from './feedback.ts';
import { words } from './strings.ts';

const text = words.events;
const kinds = {
  bounced: ['bad', CircleX],
  complained: ['bad', Flag],
  delayed: ['wait', Undo2],
  delivered: ['good', CircleCheck],
} as const;
const states = {
  pending: ['wait', Clock],
  recorded: ['good', CircleCheck],
  ignored: ['calm', CircleSlash],
  unmatched: ['wait', Unlink],
} as const;

/** Lists the last reports of a relay, and what each of them changed. */
export function EventList({ events }: { readonly events: readonly FeedbackEvent[] }) {
  return (
    <List
      label={text.title}
      columns={columns}
      rows={events}
      idOf={({ event_id }) => event_id}
      nameOf={({ event_id }) => event_id}
    />
  );
}

const columns: readonly Column<FeedbackEvent>[] = [
  {
    name: text.columns.kind,
    width: 'fit',
    show: ({ kind }) => {
      const [tone, icon] = kinds[kind];
      return (
        <Badge tone={tone} icon={icon}>
          {text.kinds[kind]}
        </Badge>
      );
    },
  },
  {
    name: text.columns.state,
    width: 'fit',
    show: ({ state }) => {
      const [tone, icon] = states[state];
      const [word, description] = text.states[state];
      return (
        <Badge tone={tone} icon={icon} title={description}>
          {word}
        </Badge>
      );
    },
  },
  {
    name: text.columns.email,
    wraps: true,
    show: ({ email_id, recipient }) =>
      email_id === null ? (
        <span className="mono small breaks">{recipient}</span>
      ) : (
        <Link className="mono small" to="/emails/$id" params={{ id: email_id }} title={email_id}>
          {shortId(email_id)}
        </Link>
      ),
  },
  { name: text.columns.detail, wraps: true, less: 'not-phone', show: ({ detail }) => detail },
  {
    name: text.columns.time,
    width: 'fit',
    end: true,
    less: 'not-phone',
    show: ({ received_at }) => <RelativeTime at={received_at} />,
  },
];
