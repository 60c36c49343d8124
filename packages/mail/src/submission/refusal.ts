/** A message that cannot be carried unchanged, with what to do about it. */
export class Refusal extends Error {}
