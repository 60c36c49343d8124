import { TRPCClientError } from '@trpc/client';
import { words } from './strings.ts';

/** An error as shown to the user. */
export interface Problem {
  /** A row of docs/errors.md, or `unreachable`. */
  readonly reason: string;
  readonly message: string;
  readonly request_id: string | null;
  readonly docs_url: string | null;
  /** Whether retrying without changes may succeed. */
  readonly passing: boolean;
  /** Messages of invalid fields, by path. */
  readonly fields: ReadonlyMap<string, string>;
}

interface ErrorData {
  readonly code?: string;
  readonly reason?: string;
  readonly request_id?: string;
  readonly docs_url?: string;
  readonly details?: readonly { readonly param: string; readonly message: string }[];
}

/** Validation errors of a form, by field, found before sending a request. */
export class InvalidForm extends Error {
  readonly fields: ReadonlyMap<string, string>;
  constructor(fields: Readonly<Record<string, string>>) {
    super(words.invalid);
    this.fields = new Map(Object.entries(fields));
  }
}

export function problemOf(error: unknown): Problem {
  if (error instanceof TRPCClientError) {
    // The cast is safe for our server's errors. An error from a proxy has no data.
    const data = (error.data ?? null) as ErrorData | null;
    if (data?.reason) {
      const { request_id = null, docs_url = null, details = [] } = data;
      return {
        reason: data.reason,
        message: error.message,
        request_id: request_id || null,
        docs_url: docs_url && new URL(docs_url, location.href).pathname,
        passing: data.code === 'internal_error' || data.code === 'rate_limited',
        fields: new Map(details.map(({ param, message }) => [param, message])),
      };
    }
    return { ...unreachable, passing: true };
  }
  const message = error instanceof Error ? error.message : String(error);
  const fields: Problem['fields'] = error instanceof InvalidForm ? error.fields : new Map();
  return { reason: 'unexpected', message, request_id: null, docs_url: null, passing: false, fields };
}

const unreachable: Problem = {
  reason: 'unreachable',
  message: words.silent,
  request_id: null,
  docs_url: null,
  passing: true,
  fields: new Map(),
};
