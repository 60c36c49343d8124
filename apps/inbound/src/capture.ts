import type { Services } from '@postrider/core';
import { workspaceOfPassword } from '@postrider/core/api-keys';
import { recordCapture } from '@postrider/core/captures';
import { startCaptureServer } from '@postrider/mail';
import { refusedLogin } from './replies.ts';

/** SMTP capture for other programs: of this machine, or of clients with an API key. */
export function startCapture(services: Services, port: number) {
  return startCaptureServer({
    host: services.config.HOST,
    port,
    on_mail: (mail, workspace_id) => recordCapture(services, mail, workspace_id),
    async on_login(password, address) {
      const workspace_id = await workspaceOfPassword(services, password, address);
      return typeof workspace_id === 'string' ? workspace_id : refusedLogin(workspace_id);
    },
  });
}
