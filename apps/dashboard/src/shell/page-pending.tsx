import { useLocation } from '@tanstack/react-router';
import { Page } from '../parts/page.tsx';
import { Skeleton } from '../parts/states.tsx';
import { locate } from './navigation.ts';

/** Stands in for a page that takes longer than 300 ms to load. */
export function PagePending() {
  const { pathname } = useLocation();
  const position = locate(pathname);
  return (
    <Page>
      {position && !position.below && <h1>{position.place.word}</h1>}
      <div className="page-pending">
        <Skeleton />
      </div>
    </Page>
  );
}
