import { builder } from './builder.ts';
import { resultOf } from './mutation-results.ts';

/** The ID of a mutation's target, with a reason for the audit log. */
export const TargetInput = builder.inputType('TargetInput', {
  fields: (t) => ({
    id: t.id({ required: true }),
  }),
});

/** The ID of the target whose secret is rotated. */
export const RotateInput = builder.inputType('RotateInput', {
  fields: (t) => ({ id: t.id({ required: true }) }),
});

const DeletePayload = builder.objectRef<{ readonly deleted_id: string }>('DeletePayload').implement({
  fields: (t) => ({ deletedId: t.exposeID('deleted_id') }),
});

export const DeleteResult = resultOf('DeleteResult', DeletePayload);
