import { CodeBlock } from '../copy.tsx';
import { words } from '../strings.ts';
import type { Call } from './api-calls.ts';

/** Shows the equivalent of a dialog's action in each API, collapsed by default. */
export function SameByApi({ call: { curl, graphql, cli } }: { readonly call: Call }) {
  return (
    <details className="same">
      <summary>{words.sameByApi}</summary>
      <div className="stack-s">
        <CodeBlock text={curl} what={words.texts.curl} />
        <CodeBlock text={graphql} what={words.texts.graphqlMutation} />
        {cli !== null && <CodeBlock text={cli} what={words.texts.command} />}
      </div>
    </details>
  );
}
