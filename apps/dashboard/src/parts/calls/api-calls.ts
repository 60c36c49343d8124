import { quoted } from './curl.ts';

/** The equivalent of one action in each API. */
export interface Call {
  readonly curl: string;
  readonly graphql: string;
  /** Null if the command line has no equivalent. */
  readonly cli: string | null;
}

function call(
  [method, path, body]: readonly [method: string, path: string, body?: object],
  [field, type, input]: readonly [field: string, type: string, input: object],
  cli: string | null,
): Call {
  const lines = [`curl -X ${method} ${location.origin}/v1${path}`, `  -H 'Authorization: Bearer <API key>'`];
  if (body) lines.push(`  -H 'Content-Type: application/json'`, `  -d ${quoted(JSON.stringify(body))}`);
  return {
    curl: lines.join(' \\\n'),
    graphql: `mutation Do($input: ${type}!) {
  ${field}(input: $input) { __typename }
}

${JSON.stringify({ input }, null, 2)}`,
    cli: cli && `npx postrider ${cli}`,
  };
}

const target = (field: string, id: string) => [field, 'TargetInput', { id }] as const;

export const calls = {
  createKey: (scopes: readonly string[], mode: 'live' | 'sandbox') =>
    call(
      ['POST', '/api-keys', { name: 'Shop', scopes, mode }],
      ['apiKeyCreate', 'ApiKeyInput', { name: 'Shop', scopes, mode: mode.toUpperCase() }],
      `keys create --name Shop --scope ${scopes.join(' ')} --mode ${mode}`,
    ),
  rotateKey: (id: string) =>
    call(['POST', `/api-keys/${id}/rotate`], ['apiKeyRotate', 'RotateInput', { id }], `keys rotate ${id}`),
  revokeKey: (id: string) => call(['DELETE', `/api-keys/${id}`], target('apiKeyRevoke', id), `keys revoke ${id}`),
  addDomain: () =>
    call(
      ['POST', '/domains', { name: 'example.com' }],
      ['domainCreate', 'DomainInput', { name: 'example.com' }],
      'domains add example.com',
    ),
  removeDomain: (name: string, id: string) =>
    call(['DELETE', `/domains/${name}`], target('domainDelete', id), `domains remove ${name}`),
  verifyDomain: (name: string, id: string) =>
    call(['POST', `/domains/${name}/verify`], target('domainVerify', id), `domains verify ${name}`),
  cancelEmail: (id: string) => call(['POST', `/email/${id}/cancel`], target('messageCancel', id), `email cancel ${id}`),
  resendEmail: (id: string) => call(['POST', `/email/${id}/resend`], target('messageResend', id), null),
  rescheduleEmail: (id: string, scheduled_at: string) =>
    call(
      ['PATCH', `/email/${id}`, { scheduled_at }],
      ['messageReschedule', 'RescheduleInput', { id, scheduledAt: scheduled_at }],
      null,
    ),
  releaseCapture: (id: string, to: readonly string[]) =>
    call(['POST', `/captures/${id}/release`, { to }], ['captureRelease', 'CaptureReleaseInput', { id, to }], null),
} as const;
