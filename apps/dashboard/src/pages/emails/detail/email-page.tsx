import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Page } from '../../../parts/page.tsx';
import { EmailDetail } from './email-detail.tsx';

export function EmailPage() {
  const { id } = useParams({ from: '/shell/emails/$id' });
  const { tab = 'preview' } = useSearch({ from: '/shell/emails/$id' });
  const navigate = useNavigate({ from: '/emails/$id' });
  return (
    <Page>
      <EmailDetail id={id} tab={tab} onTab={(name) => void navigate({ search: { tab: name }, replace: true })} />
    </Page>
  );
}
