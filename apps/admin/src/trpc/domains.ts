import {
  addDomain,
  examineDomain,
  getDomain,
  listDomains,
  removeDomain,
  resumeDomain,
  rotateKeys,
  suspendDomain,
  updateDomain,
  verifyDomain,
} from '@postrider/core/domains';
import { mutation, query, router } from './kit/invoke-procedure.ts';

export const domains = router({
  list: query(listDomains),
  get: query(getDomain),
  create: mutation(addDomain),
  verify: mutation(verifyDomain),
  examine: mutation(examineDomain),
  rotateKeys: mutation(rotateKeys),
  update: mutation(updateDomain),
  delete: mutation(removeDomain),
  suspend: mutation(suspendDomain),
  resume: mutation(resumeDomain),
});
