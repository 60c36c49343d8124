import { builder } from './builder.ts';
import { resultOf } from './mutation-results.ts';

/** The ID of a mutation's target. */
export const TargetInput = builder.inputType('TargetInput', {
  description: 'The target of the mutation.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The ID of the target.' }),
  }),
});

/** The ID of the target whose secret is rotated. */
export const RotateInput = builder.inputType('RotateInput', {
  description: 'The target whose secret is rotated.',
  fields: (t) => ({ id: t.id({ required: true, description: 'The ID of the API key or webhook.' }) }),
});

const DeletePayload = builder.objectRef<{ readonly deleted_id: string }>('DeletePayload').implement({
  description: 'The deleted object.',
  fields: (t) => ({ deletedId: t.exposeID('deleted_id', { description: 'Its ID; for a plan, its name.' }) }),
});

export const DeleteResult = resultOf('DeleteResult', DeletePayload);
