import type { Services } from '@postrider/core';
import { recordCapture } from '@postrider/core/captures';
import { startCaptureServer } from '@postrider/mail';

/** SMTP capture for other programs on a developer's machine. */
export function startCapture(services: Services, port: number) {
  return startCaptureServer({ host: services.config.HOST, port, on_mail: (mail) => recordCapture(services, mail) });
}
