import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Page } from '../../parts/page.tsx';
import { CaptureDetail } from './capture-detail.tsx';

export function CapturePage() {
  const { id } = useParams({ from: '/shell/emails/test-inbox/$id' });
  const { tab = 'preview' } = useSearch({ from: '/shell/emails/test-inbox/$id' });
  const navigate = useNavigate({ from: '/emails/test-inbox/$id' });
  return (
    <Page>
      <CaptureDetail
        id={id}
        tab={tab}
        onTab={(name) => void navigate({ search: { tab: name }, replace: true })}
        onGone={() => void navigate({ to: '/emails/test-inbox' })}
      />
    </Page>
  );
}
