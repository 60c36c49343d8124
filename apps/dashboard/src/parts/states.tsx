import { CircleAlert, CircleCheck, Info, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { problemOf } from '../api/problem.ts';
import { Id } from './copy.tsx';
import { words } from './strings.ts';

const icons = { bad: CircleAlert, wait: TriangleAlert, good: CircleCheck, info: Info, calm: Info } as const;

/** Shows a highlighted sentence with an action. */
export function Notice({
  tone,
  children,
  alert = false,
}: {
  readonly tone: keyof typeof icons;
  readonly children: ReactNode;
  readonly alert?: boolean;
}) {
  const Icon = icons[tone];
  return (
    <div className={`notice ${tone}`} role={alert ? 'alert' : undefined}>
      <Icon size={16} aria-hidden />
      <div className="stack-s">{children}</div>
    </div>
  );
}

/** Shows what went wrong, what to do about it, and what to quote in a support request. */
export function ErrorPanel({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const { message, reason, request_id, docs_url, passing } = problemOf(error);
  return (
    <Notice tone="bad" alert>
      <p>{message}</p>
      <p className="line small muted">
        <span className="mono">{reason}</span>
        {docs_url !== null && (
          <a href={docs_url} target="_blank" rel="noreferrer">
            {words.error.meaning}
          </a>
        )}
        {request_id !== null && (
          <span>
            {words.error.request} <Id id={request_id} />
          </span>
        )}
        {onRetry && passing && (
          <button type="button" className="button s" onClick={onRetry}>
            {words.error.retry}
          </button>
        )}
      </p>
    </Notice>
  );
}

/** Shows a page's empty state: what will appear here and how to get started. */
export function Empty({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** Shows a placeholder, but only if the response takes longer than 300 ms. */
export function Skeleton({ lines = 6 }: { readonly lines?: number }) {
  return (
    <div className="skeleton" role="status" aria-label={words.loading}>
      {Array.from({ length: lines }, (_, index) => (
        <span key={index} style={{ width: `${92 - ((index * 37) % 48)}%` }} />
      ))}
    </div>
  );
}

interface QueryState<T> {
  readonly data: T | undefined;
  readonly error: unknown;
  readonly refetch: () => unknown;
}

/** Shows the three states of a query: loading, error, and data. Data stays visible if a refetch fails. */
export function QueryView<T>({
  query,
  lines,
  head,
  children,
}: {
  readonly query: QueryState<T>;
  readonly lines?: number;
  /** Shown until the data arrives, if the page's own header needs the data. */
  readonly head?: ReactNode;
  readonly children: (data: T) => ReactNode;
}) {
  const { data, error } = query;
  if (data === undefined) {
    return (
      <>
        {head}
        {error ? (
          <ErrorPanel error={error} onRetry={() => void query.refetch()} />
        ) : (
          <Skeleton {...(lines !== undefined && { lines })} />
        )}
      </>
    );
  }
  return (
    <>
      {error != null && <ErrorPanel error={error} onRetry={() => void query.refetch()} />}
      {children(data)}
    </>
  );
}
