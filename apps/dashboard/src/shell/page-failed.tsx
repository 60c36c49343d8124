import { type ErrorComponentProps, Link } from '@tanstack/react-router';
import { Page, PageHeader } from '../parts/page.tsx';
import { ErrorPanel } from '../parts/states.tsx';
import { words } from './strings.ts';

/** Replaces a page that threw; the navigation beside it stays. */
export function PageFailed({ error, reset }: ErrorComponentProps) {
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
