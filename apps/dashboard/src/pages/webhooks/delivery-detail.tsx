import type { Outputs } from '../../api/trpc.ts';
import { quoted } from '../../parts/calls/curl.ts';
import { CodeBlock, Id } from '../../parts/copy.tsx';
import { Facts } from '../../parts/page.tsx';
import { words as parts } from '../../parts/strings.ts';
import { ExactTime, spanMs } from '../../parts/times.tsx';
import { NextAttempt } from './next-attempt.tsx';
import { words } from './strings.ts';

type Detail = Outputs['deliveries']['get'];
type Post = Detail['posts'][number];

/** Shows the request body and each attempt with its response, latest first. */
export function DeliveryDetail({ delivery }: { readonly delivery: Detail }) {
  const { event_id, status, error, url, request_body, posts } = delivery;
  const text = words.delivery;
  const body = request_body == null ? null : JSON.stringify(request_body, null, 2);
  return (
    <>
      <Facts
        rows={[
          [text.id, <Id key="id" id={event_id} whole />],
          [text.attempts, String(delivery.attempts)],
          [text.next, status === 'pending' && <NextAttempt key="next" delivery={delivery} />],
          [text.error, error],
        ]}
      />
      <div className="stack-s">
        <h3>{text.each}</h3>
        {posts.length === 0 && <p className="muted">{text.none}</p>}
        {posts.toReversed().map((post) => (
          <Attempt key={`${post.number} ${post.at}`} post={post} />
        ))}
      </div>
      {body !== null && (
        <div className="stack-s">
          <h3>{text.posted}</h3>
          <CodeBlock text={body} what={parts.texts.request} />
        </div>
      )}
      {body !== null && url !== null && (
        <div className="stack-s">
          <h3>{text.asCurl}</h3>
          <p className="small muted">{text.asCurlAbout}</p>
          <CodeBlock
            text={`curl ${quoted(url)} -H 'Content-Type: application/json' -d ${quoted(JSON.stringify(request_body))}`}
            what={parts.texts.curl}
          />
        </div>
      )}
    </>
  );
}

function Attempt({ post }: { readonly post: Post }) {
  const { number, at, duration_ms, response_status, response_body, request_headers, response_headers, error } = post;
  const text = words.delivery;
  return (
    <details className="attempt">
      <summary>
        {text.attempt(number)}: <strong>{response_status ?? error ?? text.noStatus}</strong>{' '}
        <span className="faint small">
          <ExactTime at={at} />
          {duration_ms !== null && `, ${spanMs(duration_ms)}`}
        </span>
      </summary>
      <div className="stack">
        {error !== null && <p>{error}</p>}
        {request_headers !== null && (
          <>
            <h4>{text.sentHeaders}</h4>
            <Facts rows={Object.entries(request_headers)} />
          </>
        )}
        {response_headers !== null && (
          <>
            <h4>{text.gotHeaders}</h4>
            <Facts rows={Object.entries(response_headers)} />
          </>
        )}
        {response_body ? (
          <CodeBlock text={response_body} what={parts.texts.response} />
        ) : (
          <p className="muted">{text.noAnswer}</p>
        )}
      </div>
    </details>
  );
}
