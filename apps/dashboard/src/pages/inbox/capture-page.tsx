import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { ChevronLeft } from 'lucide-react';
import { Page } from '../../parts/page.tsx';
import { CaptureDetail } from './capture-detail.tsx';
import { words } from './strings.ts';

export function CapturePage() {
  const { id } = useParams({ from: '/shell/inbox/$id' });
  const { tab = 'preview' } = useSearch({ from: '/shell/inbox/$id' });
  const navigate = useNavigate({ from: '/inbox/$id' });
  return (
    <Page>
      <CaptureDetail
        id={id}
        tab={tab}
        onTab={(name) => void navigate({ search: { tab: name }, replace: true })}
        onGone={() => void navigate({ to: '/inbox' })}
        back={
          <Link to="/inbox" className="back">
            <ChevronLeft size={14} />
            {words.back}
          </Link>
        }
      />
    </Page>
  );
}
