import { type KeyboardEvent, useRef, useState } from 'react';
import { nowMs } from '../../api/clock.ts';
import { client } from '../../api/trpc.ts';
import { inWorkspace } from '../../api/workspace.ts';
import { CodeBlock } from '../../parts/copy.tsx';
import { ErrorPanel } from '../../parts/states.tsx';
import { words } from './strings.ts';

const EARLY_MS = 60_000;

/** Queries GraphQL with a session token that never leaves this component. */
export function GraphqlShell() {
  const [query, setQuery] = useState(words.graphql.first);
  const [reply, setAnswer] = useState<string>();
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const cached_token = useRef<{ readonly token: string; readonly until: number } | null>(null);
  const token = async () => {
    if (cached_token.current === null || cached_token.current.until < nowMs()) {
      const session = await client.session.token.mutate({});
      cached_token.current = { token: session.token, until: Date.parse(session.expires_at) - EARLY_MS };
    }
    return cached_token.current.token;
  };
  const run = async () => {
    setBusy(true);
    setError(null);
    try {
      const response = await fetch('/graphql', {
        method: 'POST',
        credentials: 'omit',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${await token()}` },
        body: JSON.stringify({ query }),
      });
      setAnswer(JSON.stringify(await response.json(), null, 2));
    } catch (failure) {
      setError(failure);
    }
    setBusy(false);
  };
  const keys = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    void run();
  };
  return (
    <div className="shell-panes">
      <div className="stack">
        <textarea
          className="input mono"
          aria-label={words.graphql.query}
          spellCheck={false}
          value={query}
          onChange={(event) => setQuery(event.currentTarget.value)}
          onKeyDown={keys}
        />
        <div className="line">
          <button type="button" className="button primary s" aria-busy={busy} onClick={() => void run()}>
            {words.graphql.run}
          </button>
          <span className="muted small">{words.graphql.about}</span>
          <a className="small" href={inWorkspace('/graphiql')} target="_blank" rel="noreferrer">
            {words.graphql.more}
          </a>
        </div>
      </div>
      {error !== null && <ErrorPanel error={error} />}
      {reply !== undefined && <CodeBlock text={reply} what={words.graphql.answer} />}
    </div>
  );
}
