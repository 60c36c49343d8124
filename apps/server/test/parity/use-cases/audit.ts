import { listAudit, verifyAudit } from '@postrider/core/audit';
import * as shapes from '../shapes.ts';
import { connection, reading, useCase } from '../use-case.ts';
import { NO_REST, several } from './setup.ts';

export const audit = [
  useCase(listAudit, {
    rest: NO_REST,
    trpc: 'GET audit.list',
    graphql: connection('auditLog', shapes.auditEntry, { filter: 'AuditFilter' }, ({ input: { action } }) => ({
      filter: { action: [action] },
    })),
    given: (world) => several(() => world.key({ scopes: ['email:send'] }), { action: 'api_key.created' }),
    scope: 'admin',
    paged: true,
    bad: { action: 'cake.eaten' },
  }),
  useCase(verifyAudit, {
    rest: NO_REST,
    trpc: 'GET audit.verify',
    graphql: reading(
      'auditVerify',
      { after: 'Int' },
      'verified length complete head broken { sequence id problem }',
      ({ input: { after } }) => ({ after }),
    ),
    given: (world) => several(() => world.key({ scopes: ['email:send'] })),
    scope: 'admin',
    bad: { after: -1 },
  }),
];
