import { listAudit, verifyAudit } from '@postrider/core/audit';
import { query, router } from './kit/invoke-procedure.ts';

export const audit = router({ list: query(listAudit), verify: query(verifyAudit) });
