import { createCaptureReader } from '@postrider/mail';
import { AppError } from '../operation/errors.ts';
import type { CapturePort } from '../operation/ports.ts';
import type { Metrics } from '../process/metrics.ts';
import { parsingBounds } from './bounds.ts';
import { FairLine, ShareRejected } from './fair-line.ts';

export function createCapturePort(metrics: Metrics): CapturePort {
  const reader = createCaptureReader();
  const line = new FairLine('capture_parsing', parsingBounds(reader.threads), metrics);
  return {
    async read(workspace_id, raw) {
      const leave = await line.enter(workspace_id).catch((error: unknown) => {
        throw error instanceof ShareRejected ? busy() : error;
      });
      try {
        const mail = await reader.read(raw);
        if ('kind' in mail)
          throw new AppError('capture_unreadable', `The captured email cannot be parsed: ${mail.why}.`);
        return mail;
      } finally {
        leave();
      }
    },
  };
}

function busy(): AppError {
  return new AppError(
    'capture_busy',
    'Too many captured emails of this workspace are being read. Read fewer in parallel and retry later.',
  );
}
