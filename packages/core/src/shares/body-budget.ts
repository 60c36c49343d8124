import { AppError } from '../operation/errors.ts';

export function bodyBudgetUsed(): AppError {
  return new AppError(
    'body_budget',
    'Too many large requests from this workspace are in progress. Send fewer in parallel and retry later.',
  );
}
