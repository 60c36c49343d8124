import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { ChevronLeft } from 'lucide-react';
import { Page } from '../../../parts/page.tsx';
import { EmailDetail } from './email-detail.tsx';
import { words } from './strings.ts';

export function EmailPage() {
  const { id } = useParams({ from: '/shell/emails/$id' });
  const { tab = 'preview' } = useSearch({ from: '/shell/emails/$id' });
  const navigate = useNavigate({ from: '/emails/$id' });
  return (
    <Page>
      <EmailDetail
        id={id}
        tab={tab}
        onTab={(name) => void navigate({ search: { tab: name }, replace: true })}
        back={
          <Link to="/emails" className="back">
            <ChevronLeft size={14} />
            {words.back}
          </Link>
        }
      />
    </Page>
  );
}
