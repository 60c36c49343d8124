import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { problemOf } from '../api/problem.ts';
import { signInAgain } from '../api/session.ts';
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

/** Replaces the whole dashboard if the workspace in the URL cannot be opened. */
export function ShellFailed(props: ErrorComponentProps) {
  if (problemOf(props.error).reason !== 'workspace_not_found') return <PageFailed {...props} />;
  return (
    <Page>
      <PageHeader title={words.noAccess.title} answer={words.noAccess.about} />
      <p className="line">
        <a className="button" href="/">
          {words.noAccess.home}
        </a>
        <button type="button" className="button" onClick={() => void signInAgain()}>
          {words.noAccess.signIn}
        </button>
      </p>
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
