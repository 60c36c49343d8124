import type { Content, OpenApi, Operation } from './document.ts';
import { escapeText } from './fields.ts';

export interface ErrorLine {
  readonly status: string;
  readonly reason: string;
  readonly meaning: string;
}

export interface CommonErrors {
  readonly every_request: readonly ErrorLine[];
  readonly with_body: readonly ErrorLine[];
}

/** Finds the errors of every request and of every request with a body, which the operations then don't repeat. */
export function commonErrors(document: OpenApi, operations: readonly Operation[]): CommonErrors {
  const inAll = (list: readonly Operation[]) => {
    const [first = [], ...others] = list.map((operation) => errorsOf(document, operation));
    return first.filter(({ reason }) => others.every((lines) => lines.some((line) => line.reason === reason)));
  };
  const every_request = inAll(operations);
  const isCommon = ({ reason }: ErrorLine) => every_request.some((line) => line.reason === reason);
  const with_body = inAll(operations.filter(({ requestBody }) => requestBody));
  return { every_request, with_body: with_body.filter((line) => !isCommon(line)) };
}

export function errorsOf({ components }: OpenApi, { responses }: Operation): ErrorLine[] {
  const resolved = ({ $ref, ...content }: Content): Content =>
    $ref === undefined ? content : (components.responses[$ref.slice($ref.lastIndexOf('/') + 1)] ?? content);
  return Object.entries(responses)
    .filter(([status]) => Number(status) >= 400)
    .flatMap(([status, response]) =>
      [...(resolved(response).description ?? '').matchAll(/^- `(\w+)`: (.*)$/gm)].map(
        ([, reason = '', meaning = '']) => ({ status, reason, meaning }),
      ),
    );
}

export function errorList(lines: readonly ErrorLine[]): string {
  return lines
    .map(({ status, reason, meaning }) => `- ${status} [\`${reason}\`](/errors/${reason}): ${escapeText(meaning)}`)
    .join('\n');
}
