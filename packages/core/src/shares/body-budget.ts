import { AppError } from '../operation/errors.ts';

export function bodyBudgetUsed(): AppError {
  return new AppError(
    'body_budget',
    'Too many large requests of this workspace are being read and stored; send fewer of them in parallel, and retry later.',
  );
}
