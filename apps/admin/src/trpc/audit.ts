import { listAudit, verifyAudit } from '@postrider/core/audit';
import { query, router } from './kit/invoke-procedure.ts';
import { auditStream } from './live.ts';

export const audit = router({ list: query(listAudit), verify: query(verifyAudit), stream: auditStream });
