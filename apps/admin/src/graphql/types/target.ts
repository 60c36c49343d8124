import { builder } from '../builder.ts';
import { resultOf } from '../errors.ts';

/** What a mutation is about, by its id; reason is kept in the audit log. */
export const TargetInput = builder.inputType('TargetInput', {
  fields: (t) => ({
    id: t.id({ required: true }),
  }),
});

/** What gets a new secret, by its id. */
export const RotateInput = builder.inputType('RotateInput', {
  fields: (t) => ({ id: t.id({ required: true }) }),
});

const DeletePayload = builder.objectRef<{ readonly deleted_id: string }>('DeletePayload').implement({
  fields: (t) => ({ deletedId: t.exposeID('deleted_id') }),
});

export const DeleteResult = resultOf('DeleteResult', DeletePayload);
