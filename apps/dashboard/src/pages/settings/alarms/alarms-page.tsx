import { useQuery } from '@tanstack/react-query';
import { type Outputs, trpc } from '../../../api/trpc.ts';
import { Page, PageHeader } from '../../../parts/page.tsx';
import { AlarmList } from './alarm-list.tsx';
import { AlarmRules } from './alarm-rules.tsx';
import { AlarmSettings } from './alarm-settings.tsx';
import { words } from './strings.ts';

type Settings = Outputs['alarms']['settings'];

export function AlarmsPage() {
  const settings = useQuery(trpc.alarms.settings.queryOptions({ access: 'workspace' }));
  return (
    <Page>
      <PageHeader title={words.title} answer={settings.data && answerOf(settings.data)} />
      <AlarmList access="workspace" />
      <AlarmSettings access="workspace" />
      <AlarmRules access="workspace" />
    </Page>
  );
}

function answerOf({ emails, webhook_url }: Settings): string {
  const to = [...emails, ...(webhook_url === null ? [] : [new URL(webhook_url).host])];
  return to.length === 0 ? words.answer.none : words.answer.some(to.join(', '));
}
