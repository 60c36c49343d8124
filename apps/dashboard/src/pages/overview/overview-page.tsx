import { Page, PageHeader } from '../../parts/page.tsx';
import { words } from './strings.ts';

export function OverviewPage() {
  return (
    <Page>
      <PageHeader title={words.title} />
    </Page>
  );
}
