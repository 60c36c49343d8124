import type { AppError } from '@postrider/core';
import { program_name } from '@postrider/core/program';
import { ApiError, PostriderError, UnexpectedAnswerError } from '@postrider/sdk';
import { OUTPUT_VERSION, plain } from './terminal.ts';

export interface ProblemFacts {
  readonly reason: string;
  readonly message: string;
  /** The next step, if the command line knows more than the message says. */
  readonly advice?: string | undefined;
  readonly details?: readonly { readonly param: string; readonly message: string }[] | undefined;
  readonly request_id?: string | undefined;
  readonly docs_url?: string | undefined;
  /** Whether a retry may help: there was no response, or the service said to wait. */
  readonly passing?: boolean;
  /** When to retry, if the service said so. */
  readonly retry_after_seconds?: number | undefined;
}

/** Why a command failed, from the service or the command line. */
export class Problem extends Error {
  readonly facts: ProblemFacts;

  constructor(facts: ProblemFacts) {
    super(facts.message);
    this.name = 'Problem';
    this.facts = facts;
  }
}

const newKey = `Set POSTRIDER_API_KEY to a valid key. To create one, run \`${program_name} keys create --local\` on the server.`;

/** Advice for errors caused by the command line's settings. */
const adviceFor: Readonly<Record<string, string>> = {
  missing_key: newKey,
  malformed_key: newKey,
  unknown_key: newKey,
  revoked_key: newKey,
  expired_key: newKey,
  missing_scope: 'Set POSTRIDER_API_KEY to a key that has this scope.',
  route_not_found: 'The server and this CLI may be different releases. Compare their versions.',
};

export function adviceOn(reason: string): string | undefined {
  return adviceFor[reason];
}

/** Writes the reason, the message and the advice of an error, as one JSON object with --json. */
export function writeProblem(error: unknown, json: boolean, write: (text: string) => void): void {
  const { passing: _, retry_after_seconds: __, ...facts } = factsOf(error);
  if (json) {
    write(JSON.stringify({ output_version: OUTPUT_VERSION, error: facts }));
    return;
  }
  const details = facts.details ?? [];
  const lines = [`${facts.reason}: ${facts.message}`];
  if (details.length > 1) lines.push(...details.map(({ message }) => `  ${message}`));
  if (facts.advice) lines.push(facts.advice);
  if (facts.docs_url) lines.push(`See ${facts.docs_url}${facts.request_id ? ` (request ${facts.request_id})` : ''}`);
  write(lines.map(plain).join('\n'));
}

/** Compares names because importing core takes half a second, and most commands do not need it. */
function isRefusal(error: unknown): error is AppError {
  return error instanceof Error && error.name === 'AppError';
}

const PASSING_CODES: ReadonlySet<string> = new Set(['rate_limited', 'internal_error']);

/** Returns the problem reported by the service or the connection to it; undefined for any other error. */
export function problemOf(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error;
  if (!(error instanceof PostriderError)) return undefined;
  // The client wraps errors thrown by its fetch.
  if (error.cause instanceof Problem) return error.cause;
  const { reason, message } = error;
  if (error instanceof ApiError) {
    const { status, code, details, request_id, docs_url, retry_after_seconds } = error;
    return new Problem({
      reason,
      message,
      details:
        details.length > 0 ? details.map((detail) => ({ param: detail.param, message: detail.message })) : undefined,
      request_id: request_id || undefined,
      docs_url: docs_url || undefined,
      advice: adviceOn(reason),
      passing: status === 429 || status >= 500 || PASSING_CODES.has(code),
      retry_after_seconds: retry_after_seconds ?? undefined,
    });
  }
  const passing = !(error instanceof UnexpectedAnswerError) || error.status >= 500;
  return new Problem({ reason, message, advice: 'Check POSTRIDER_URL and any proxy in between.', passing });
}

function factsOf(error: unknown): ProblemFacts {
  const problem = problemOf(error);
  if (problem) return problem.facts;
  if (isRefusal(error)) {
    return {
      reason: error.reason,
      message: error.message,
      details: error.facts.details,
      advice: adviceOn(error.reason),
    };
  }
  if (error instanceof Error && error.name === 'ConfigError') {
    return {
      reason: 'invalid_environment',
      message: error.message,
      advice: 'Correct the environment variables and try again.',
    };
  }
  return {
    reason: 'unexpected',
    message: error instanceof Error ? error.message || error.name : String(error),
    advice: `Run \`${program_name} doctor\` to check this installation.`,
  };
}
