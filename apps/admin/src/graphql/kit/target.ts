import { builder } from './builder.ts';
import { resultOf } from './mutation-results.ts';

/** The target of a mutation by its id, with a reason for the audit log. */
export const TargetInput = builder.inputType('TargetInput', {
  fields: (t) => ({
    id: t.id({ required: true }),
  }),
});

/** The target that gets a new secret, by its id. */
export const RotateInput = builder.inputType('RotateInput', {
  fields: (t) => ({ id: t.id({ required: true }) }),
});

const DeletePayload = builder.objectRef<{ readonly deleted_id: string }>('DeletePayload').implement({
  fields: (t) => ({ deletedId: t.exposeID('deleted_id') }),
});

export const DeleteResult = resultOf('DeleteResult', DeletePayload);
