import './dock.css';
import { X } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { may, type Scope, useMe } from '../../api/me.ts';
import { Tabs } from '../../parts/tabs.tsx';
import { GraphqlShell } from './graphql-shell.tsx';
import { EventLog, RequestLog, WebhookLog } from './logs.tsx';
import { words } from './strings.ts';

type Name = keyof typeof words.tabs;

/** Shows live panels over any page: events, rejected requests, webhook deliveries, and a GraphQL console. */
export function Dock({ onClose }: { readonly onClose: () => void }) {
  const me = useMe();
  const [tab, setTab] = useState<Name>('events');
  const guarded = (needed: Scope, reason: string, content: ReactNode) =>
    may(me, needed) ? content : <p className="muted">{reason}</p>;
  return (
    <aside className="dock" aria-label={words.title}>
      <button type="button" className="button plain icon dock-close" aria-label={words.close} onClick={onClose}>
        <X size={16} />
      </button>
      <Tabs<Name>
        label={words.title}
        value={tab}
        onChange={setTab}
        tabs={[
          { name: 'events', word: words.tabs.events, show: () => <EventLog /> },
          {
            name: 'requests',
            word: words.tabs.requests,
            show: () => guarded('admin', words.denied.requests, <RequestLog />),
          },
          {
            name: 'webhooks',
            word: words.tabs.webhooks,
            show: () => guarded('webhooks:manage', words.denied.webhooks, <WebhookLog />),
          },
          { name: 'graphql', word: words.tabs.graphql, show: () => <GraphqlShell /> },
        ]}
      />
    </aside>
  );
}
