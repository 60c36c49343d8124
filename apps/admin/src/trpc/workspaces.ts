import { getRetention } from '@postrider/core/storage';
import {
  createPlan,
  createWorkspace,
  deletePlan,
  getWorkspace,
  listPlans,
  listWorkspaces,
  setWorkspacePlan,
  updatePlan,
  updateWorkspace,
} from '@postrider/core/workspaces';
import { mutation, query, router } from './kit/invoke-procedure.ts';

export const workspaces = router({
  list: query(listWorkspaces),
  get: query(getWorkspace),
  retention: query(getRetention),
  create: mutation(createWorkspace),
  update: mutation(updateWorkspace),
  setPlan: mutation(setWorkspacePlan),
});

export const plans = router({
  list: query(listPlans),
  create: mutation(createPlan),
  update: mutation(updatePlan),
  delete: mutation(deletePlan),
});
