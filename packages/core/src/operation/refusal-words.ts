import type { z } from 'zod';

const MAX_NAMES = 10;
const MAX_NAME_SHOWN = 100;
const KINDS: Readonly<Record<string, string>> = { record: 'object', int: 'whole number' };

/**
 * Returns a message for an issue, worded to follow the field name; returns undefined to keep the validator's own
 * message.
 */
export function refusalWords(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${article(KINDS[issue.expected] ?? issue.expected)}`;
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`;
    case 'too_big':
      return issue.inclusive === false
        ? `must be less than ${issue.maximum}`
        : bound(issue.origin, 'at most', Number(issue.maximum));
    case 'too_small':
      return issue.inclusive === false
        ? `must be more than ${issue.minimum}`
        : bound(issue.origin, 'at least', Number(issue.minimum));
    case 'unrecognized_keys':
      return unknownFields(issue.keys);
    case 'invalid_key':
      return `has a name that does not fit: it ${issue.issues[0]?.message ?? 'is refused'}`;
    case 'invalid_format':
      return formats[issue.format];
    default:
      return undefined;
  }
}

const formats: Readonly<Record<string, string>> = {
  url: 'must be a whole address such as https://example.com',
  uuid: 'must be a UUID',
  datetime: 'must be a time in ISO 8601 with Z or an offset, such as 2030-01-31T09:00:00Z',
};

function bound(origin: string, side: 'at most' | 'at least', limit: number): string {
  if (origin === 'string') {
    if (side === 'at least' && limit === 1) return 'must not be empty';
    return `must be ${side} ${limit} ${limit === 1 ? 'character' : 'characters'} long`;
  }
  if (origin === 'array' || origin === 'set') {
    if (side === 'at least' && limit === 1) return 'must not be empty';
    return `must hold ${side} ${limit} ${limit === 1 ? 'entry' : 'entries'}`;
  }
  return `must be ${side} ${limit}`;
}

function unknownFields(names: readonly string[]): string {
  const short_names = names.slice(0, MAX_NAMES).map((name) => name.slice(0, MAX_NAME_SHOWN).toWellFormed());
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : '';
  return names.length === 1
    ? `has the unknown field ${short_names[0]}; remove it`
    : `has the unknown fields ${short_names.join(', ')}${more}; remove them`;
}

function article(kind: string): string {
  return `${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind}`;
}
