import {
  addOperator,
  changePassword,
  createSessionToken,
  inviteMember,
  listMembers,
  listOperators,
  readMemberCounts,
  removeMember,
  removeOperator,
  setMemberRole,
  switchWorkspace,
  whoAmI,
} from '@postrider/core/people';
import { mutation, query, router } from './kit/invoke-procedure.ts';

export const people = router({
  me: query(whoAmI),
  switchWorkspace: mutation(switchWorkspace),
  changePassword: mutation(changePassword),
});

export const session = router({ token: mutation(createSessionToken) });

export const members = router({
  list: query(listMembers),
  counts: query(readMemberCounts),
  invite: mutation(inviteMember),
  setRole: mutation(setMemberRole),
  remove: mutation(removeMember),
});

export const operators = router({
  list: query(listOperators),
  add: mutation(addOperator),
  remove: mutation(removeOperator),
});
