import { problemOf } from '../api/problem.ts';
import { client } from '../api/trpc.ts';
import { toast } from '../parts/toasts.tsx';

/** Opens another workspace in this tab, by a page load, and makes it the default of the session. */
export function switchWorkspace(workspace_id: string): void {
  client.people.switchWorkspace.mutate({ workspace_id }).then(
    () => location.assign(`/w/${workspace_id}`),
    (error: unknown) => toast(problemOf(error).message, 'bad'),
  );
}
