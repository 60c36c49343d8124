import { canonicalDomain } from '@postrider/mail';
import { z } from 'zod';
import { AppError } from '../operation/errors.ts';

const HOST_AND_PORT = /^[a-z0-9.:[\]-]{1,255}:\d{1,5}$/i;

export const destinationField = z.string().meta({
  description: 'A recipient domain, or a relay as host:port.',
  examples: ['example.com'],
});

/**
 * Returns the name under which the limits of a destination are stored: the canonical form of a domain, or the relay as
 * host:port.
 */
export function destinationNamed(text: string): string {
  const name = canonicalDomain(text) ?? (HOST_AND_PORT.test(text) ? text.toLowerCase() : null);
  if (name === null) {
    throw new AppError(
      'invalid_domain',
      `destination must be a domain such as example.com, not ${text.slice(0, 255)}.`,
    );
  }
  return name;
}
