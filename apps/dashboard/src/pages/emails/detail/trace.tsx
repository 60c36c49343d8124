import { useNow } from '../../../parts/clock.ts';
import { isOpen } from '../../../parts/mail-status.tsx';
import { Panel } from '../../../parts/page.tsx';
import { spanMs } from '../../../parts/times.tsx';
import type { Attempt, Email } from './email.ts';
import { words } from './strings.ts';
import { phaseNames, type Step, type Timeline, timelineOf } from './timeline.ts';

/** Shows an email as a waterfall, from acceptance to the last attempt. */
export function Trace({ email }: { readonly email: Email }) {
  const now = useNow();
  const end = isOpen(email.status) ? now : Date.parse(email.last_event.at);
  const timeline = timelineOf(email, end);
  const emails = new Map(email.recipients.map(({ id, email: address }) => [id, address]));
  const many = email.recipients.length > 1;
  return (
    <Panel
      title={words.trace.title}
      actions={
        <span className="line small muted legend" aria-hidden>
          {phaseNames.map((name) => (
            <span key={name}>
              <i className={`swatch ${name}`} /> {words.trace.phases[name]}
            </span>
          ))}
        </span>
      }
    >
      <p className="trace-step trace-head small faint" aria-hidden>
        <span />
        <span className="line spread">
          <span>0</span>
          <span>{spanMs(Math.max(...timeline.steps.map(({ to_ms }) => to_ms)) - Date.parse(email.created_at))}</span>
        </span>
        <span className="trace-time">{words.trace.start}</span>
        <span className="trace-time">{words.trace.took}</span>
      </p>
      <ol className="trace">
        {timeline.steps.map((step) => (
          <TraceStep
            key={step.key}
            step={step}
            timeline={timeline}
            begun={Date.parse(email.created_at)}
            scheduled={email.scheduled_at !== null}
            many={many}
            recipient={many && step.attempt ? (emails.get(step.attempt.recipient_id) ?? '') : ''}
          />
        ))}
      </ol>
      {email.attempts.length === 0 && <p className="muted small">{words.trace.none}</p>}
      {timeline.compressed && <p className="faint small">{words.trace.gap}</p>}
    </Panel>
  );
}

function TraceStep({
  step,
  timeline,
  begun: started_ms,
  scheduled,
  recipient,
  many,
}: {
  readonly step: Step;
  readonly timeline: Timeline;
  readonly begun: number;
  readonly scheduled: boolean;
  readonly recipient: string;
  /** Whether the email has several recipients. */
  readonly many: boolean;
}) {
  const { kind, from_ms, to_ms, attempt, dimmed } = step;
  const left = timeline.at(from_ms);
  const width = timeline.at(to_ms) - left;
  const name =
    attempt !== null
      ? words.trace.attempt(attempt.number)
      : kind === 'accepted'
        ? words.trace.accepted
        : scheduled
          ? words.trace.scheduled
          : words.trace.waits;
  return (
    <li className={`trace-step ${dimmed ? 'dimmed' : ''}`}>
      <span className="trace-name">
        <strong>{name}</strong>
        <span className="faint small cut" title={recipient || attempt?.target}>
          {recipient || attempt?.target}
        </span>
      </span>
      <span className="trace-axis" aria-hidden>
        <span className={`trace-bar ${kind}`} style={{ left: `${left * 100}%`, width: `${width * 100}%` }}>
          {attempt && <Phases attempt={attempt} />}
        </span>
      </span>
      <span className="trace-time small" title={words.trace.start}>
        {kind === 'attempt' ? `+${spanMs(from_ms - started_ms)}` : '0'}
      </span>
      <span className="trace-time small" title={words.trace.took}>
        {kind === 'accepted' ? '' : spanMs(attempt ? Date.parse(attempt.finished_at) - from_ms : to_ms - from_ms)}
      </span>
      {attempt && <AttemptFacts attempt={attempt} open={!many && !dimmed && attempt.outcome !== 'accepted'} />}
    </li>
  );
}

function Phases({ attempt }: { readonly attempt: Attempt }) {
  const total = phaseNames.reduce((sum, name) => sum + attempt.phases_ms[name], 0);
  if (total === 0) return null;
  return phaseNames.map((name) => (
    <span key={name} className={`phase ${name}`} style={{ width: `${(attempt.phases_ms[name] / total) * 100}%` }} />
  ));
}

function AttemptFacts({ attempt, open: is_open }: { readonly attempt: Attempt; readonly open: boolean }) {
  const { outcome, reply, error, tls, phases_ms, transcript, address } = attempt;
  const phases = phaseNames
    .filter((name) => phases_ms[name] > 0)
    .map((name) => `${words.trace.phases[name]} ${spanMs(phases_ms[name])}`);
  const security = tls ? `${tls.protocol} ${tls.cipher}` : words.trace.noTls;
  return (
    <details className="trace-facts small" open={is_open}>
      <summary>
        <span className={outcome === 'accepted' ? 'good-text' : outcome === 'rejected' ? 'bad-text' : 'wait-text'}>
          {words.trace.outcomes[outcome]}
        </span>{' '}
        <code>{reply ? `${reply.code} ${reply.enhanced ?? ''} ${reply.text}` : error}</code>
      </summary>
      <p className="muted">{[...phases, security, address].filter(Boolean).join(' · ')}</p>
      {transcript !== null && (
        <pre className="transcript" role="region" aria-label={words.trace.dialogue} tabIndex={0}>
          {transcript}
        </pre>
      )}
    </details>
  );
}
