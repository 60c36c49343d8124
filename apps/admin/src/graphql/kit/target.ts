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
  fields: (t) => ({
    deletedId: t.exposeID('deleted_id', {
      description: 'Its ID; the user ID of a member or operator, the name of a plan.',
    }),
  }),
});

export const DeleteResult = resultOf('DeleteResult', DeletePayload);
