import { CodeBlock } from '../copy.tsx';
import type { Call } from './api-calls.ts';

const words = {
  title: 'The same by the API',
  curl: 'the curl command',
  graphql: 'the GraphQL mutation',
  cli: 'the command',
};

/** The action of a dialog in the form of each API, folded up. */
export function SameByApi({ call: { curl, graphql, cli } }: { readonly call: Call }) {
  return (
    <details className="same">
      <summary>{words.title}</summary>
      <div className="stack-s">
        <CodeBlock text={curl} what={words.curl} />
        <CodeBlock text={graphql} what={words.graphql} />
        {cli !== null && <CodeBlock text={cli} what={words.cli} />}
      </div>
    </details>
  );
}
