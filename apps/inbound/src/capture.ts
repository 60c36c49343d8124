import type { Services } from '@postrider/core';
import { recordCapture } from '@postrider/core/captures';
import { startCaptureServer } from '@postrider/mail';

/** The SMTP capture for other programs of a developer's machine. */
export function startCapture(services: Services, port: number) {
  return startCaptureServer({ host: services.config.HOST, port, on_mail: (mail) => recordCapture(services, mail) });
}
