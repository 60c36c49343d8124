import { type ReactNode, useContext, useEffect } from 'react';
import { knownWorkspace } from '../api/me.ts';
import { PlaceTabs, Trail } from '../shell/trail.tsx';
import { InDialog } from './dialog.tsx';
import { words } from './strings.ts';

/**
 * Renders the page header: where the page is, its name, a first line that answers the question people open the page
 * for, and the tabs of its section.
 */
export function PageHeader({
  title,
  name = title,
  answer: response,
  actions,
}: {
  readonly title: ReactNode;
  /** The window title, if the heading is more than text. */
  readonly name?: ReactNode;
  readonly answer?: ReactNode;
  readonly actions?: ReactNode;
}) {
  const in_dialog = useContext(InDialog);
  useEffect(() => {
    if (typeof name === 'string') document.title = [name, titleOfSpace(), 'Postrider'].filter(Boolean).join(' · ');
  }, [name]);
  return (
    <header className="page-header">
      {!in_dialog && typeof name === 'string' && <Trail name={name} />}
      <div className="grow">
        <h1>{title}</h1>
        {/* Its line is there before the response, so that the page does not move. */}
        {(response !== undefined || !in_dialog) && <div className="answer">{response}</div>}
      </div>
      {actions && <div className="line">{actions}</div>}
      {!in_dialog && <PlaceTabs />}
    </header>
  );
}

/** Returns what the page is about: the workspace or the instance. Nothing before sign-in. */
function titleOfSpace(): string | undefined {
  return location.pathname.startsWith('/instance') ? words.instance : knownWorkspace()?.name;
}

export function Page({ children }: { readonly children: ReactNode }) {
  return <div className="page">{children}</div>;
}

export function Panel({
  title,
  actions,
  children,
  bare = false,
}: {
  readonly title: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  /** Whether to omit the padding, for content such as a table. */
  readonly bare?: boolean;
}) {
  return (
    <section className="panel">
      <header>
        <h2 className="panel-title">{title}</h2>
        {actions}
      </header>
      {bare ? children : <div className="body">{children}</div>}
    </section>
  );
}

export interface Figure {
  readonly name: string;
  readonly value: string;
  /** A share or a comparison, beside the value. */
  readonly note?: string | undefined;
  /** A sparkline below the value. */
  readonly line?: ReactNode;
}

/** Shows a row of large numbers, each with its name above. */
export function Figures({ all }: { readonly all: readonly Figure[] }) {
  return (
    <dl className="figures">
      {all.map(({ name, value, note, line }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {value}
            {note !== undefined && <span className="note"> {note}</span>}
            {line}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Shows names and values, such as the facts about one message. */
export function Facts({ rows }: { readonly rows: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="facts">
      {rows
        .filter(([, value]) => value !== null && value !== undefined && value !== false && value !== '')
        .flatMap(([name, value], at) => [
          // A header name may occur twice, so the key includes the position.
          <dt key={`${at} ${name}`}>{name}</dt>,
          <dd key={`${at} ${name} value`}>{value}</dd>,
        ])}
    </dl>
  );
}
