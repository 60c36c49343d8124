import { CodeBlock } from '../copy.tsx';
import { words } from '../strings.ts';
import type { Call } from './api-calls.ts';

/** The action of a dialog in the form of each API, folded up. */
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
