import type { Services } from '@postrider/core';
import { workspaceOfPassword } from '@postrider/core/api-keys';
import { recordCapture } from '@postrider/core/captures';
import { startCaptureServer } from '@postrider/mail';

/** SMTP capture for other programs: of this machine, or of clients with an API key. */
export function startCapture(services: Services, port: number) {
  return startCaptureServer({
    host: services.config.HOST,
    port,
    on_mail: (mail, workspace_id) => recordCapture(services, mail, workspace_id),
    on_login: (password, address) => workspaceOfPassword(services, password, address),
  });
}
