import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { problemOf } from '../api/problem.ts';
import { RETRY_DELAY_MS } from '../api/trpc.ts';
import { Page, PageHeader } from '../parts/page.tsx';
import { ErrorPanel } from '../parts/states.tsx';
import { words } from './strings.ts';

/** Replaces a page that threw. The navigation stays. Transient errors are retried automatically. */
export function PageFailed({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const { passing } = problemOf(error);
  useEffect(() => {
    if (!passing) return;
    const timer = setInterval(() => void router.invalidate().then(reset), RETRY_DELAY_MS);
    return () => clearInterval(timer);
  }, [passing, reset, router]);
  return (
    <Page>
      <PageHeader title={words.failed.title} answer={words.failed.about} />
      <ErrorPanel error={error} onRetry={reset} />
    </Page>
  );
}

export function PageMissing() {
  return (
    <Page>
      <PageHeader title={words.failed.missing} answer={words.failed.missingAbout} />
      <p>
        <Link to="/">{words.failed.home}</Link>
      </p>
    </Page>
  );
}
