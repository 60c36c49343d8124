import { type FeedbackProblem, feedbackProblems } from '../feedback/index.ts';
import type { ActorContext } from '../operation/context.ts';
import { program_name } from '../process/program.ts';
import { kindsOf, type UsedTransports } from '../transports/index.ts';
import { type Finding, ok, skipped, warning } from './finding.ts';

const MAX_NAMES = 5;

/** Checks that the bounces of email through the relays of DELIVERY and of the instance's rules are seen. */
export async function checkRelayFeedback(
  ctx: Pick<ActorContext, 'sql' | 'config'>,
  transports: UsedTransports,
): Promise<Finding> {
  if (!kindsOf(ctx.config, transports).includes('smtp')) return skipped('No email goes through a relay.');
  const problems = await feedbackProblems(ctx, null);
  const missing = namesOf(problems, 'missing');
  const rejected = namesOf(problems, 'rejected');
  const { DELIVERY, RETURN_PATH_DOMAIN } = ctx.config;
  const is_relayed = transports.has_default && DELIVERY.some(({ kind }) => kind === 'smtp');
  const notes = [
    {
      applies: missing !== '',
      detail: `Relays without feedback: ${missing}. Bounces that a relay keeps are never seen.`,
      fix: `Run \`${program_name} transports set-feedback NAME\` and enter the URL at the relay: docs/feedback.md.`,
    },
    {
      applies: rejected !== '',
      detail: `Feedback requests fail their signature check: ${rejected}.`,
      fix: `Run \`${program_name} transports feedback NAME\`, and correct the URL and the secret at the relay: docs/feedback.md.`,
    },
    {
      applies: is_relayed && RETURN_PATH_DOMAIN === undefined,
      detail: 'Bounces that the relay of DELIVERY sends by email are not received.',
      fix: 'Set RETURN_PATH_DOMAIN and receive its email: docs/operations.md#bounces.',
    },
  ].filter(({ applies }) => applies);
  if (notes.length === 0) return ok('Relays in use can report bounces.');
  return warning(notes.map(({ detail }) => detail).join(' '), notes.map(({ fix }) => fix).join(' '));
}

/** Returns the names of the first few relays with a problem. */
function namesOf(problems: readonly FeedbackProblem[], kind: FeedbackProblem['kind']): string {
  const names = problems.filter((one) => one.kind === kind).map(({ name }) => name);
  const rest = names.length - MAX_NAMES;
  return names.slice(0, MAX_NAMES).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}
