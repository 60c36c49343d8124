import type { AppRouter } from '@postrider/admin/router';
import type { TRPCLink } from '@trpc/client';
import { observable } from '@trpc/server/observable';
import { problemOf } from './problem.ts';
import { askFor, goToAccount, type Need } from './session.ts';

const needs: Readonly<Record<string, Need>> = {
  reauthentication_required: 'password',
  session_ended: 'session',
};

/**
 * If the server requires the password or a new sign-in, the call waits for that dialog and is then retried. The page
 * and its form keep their state.
 */
export const sessionLink: TRPCLink<AppRouter> =
  () =>
  ({ next, op }) =>
    observable((observer) => {
      let stop = () => {};
      const attempt = (repeated: boolean) => {
        const running = next(op).subscribe({
          next: (value) => observer.next(value),
          complete: () => observer.complete(),
          error(error) {
            const { reason } = problemOf(error);
            if (reason === 'factor_required') goToAccount();
            const need = needs[reason];
            if (repeated || need === undefined) return observer.error(error);
            void askFor(need).then((is_confirmed) => (is_confirmed ? attempt(true) : observer.error(error)));
          },
        });
        stop = () => running.unsubscribe();
      };
      attempt(false);
      return () => stop();
    });
