import { AppError } from '@postrider/core';

export const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;

export function responseTooLarge(): AppError {
  return new AppError(
    'response_too_large',
    `The response would be larger than ${MAX_RESPONSE_BYTES / 1024 / 1024} MiB. Request fewer emails, or download content by its url.`,
  );
}

/** Estimates the size of a value as JSON. Stops counting once a limit is exceeded. */
export function sizeOf(value: unknown, limit: number): number {
  const stack = [value];
  let size = 0;
  while (stack.length > 0 && size <= limit) {
    const one = stack.pop();
    if (typeof one === 'string') size += one.length + 2;
    else if (typeof one !== 'object' || one === null) size += 4;
    else if (Array.isArray(one)) for (const inner of one) stack.push(inner);
    else
      for (const name in one) {
        size += name.length + 4;
        stack.push((one as Record<string, unknown>)[name]);
      }
  }
  return size;
}
