import { AppError, type Services } from '@postrider/core';
import { checkPassword, hasScope } from '@postrider/core/api-keys';
import { recordCapture } from '@postrider/core/captures';
import { captureClientBounds, countRejected, NetworkPlaces } from '@postrider/core/shares';
import { startCaptureServer } from '@postrider/mail';
import { refusedLogin } from './replies.ts';

/** Starts SMTP capture for other programs, either on this machine or with an API key. */
export function startCapture(services: Services, port: number) {
  return startCaptureServer({
    host: services.config.HOST,
    port,
    places: new NetworkPlaces(captureClientBounds, countRejected(services.metrics, 'capture_clients')),
    on_mail: (mail, workspace_id) => recordCapture(services, mail, workspace_id),
    async on_login(password, address) {
      const accepted = await checkPassword(services, password, address);
      if (accepted instanceof AppError) return refusedLogin(accepted);
      if (hasScope(accepted.scopes, 'email:send')) return accepted.workspace_id;
      return refusedLogin(new AppError('missing_scope', 'SMTP capture requires a key with the scope email:send.'));
    },
  });
}
