/**
 * The workspace of this tab, from its URL. It stays the same until another page load, so that nothing of one workspace
 * can appear under the name of another.
 */
let workspace_id = /^\/w\/([^/]+)/.exec(location.pathname)?.[1] ?? null;

/** Sets the workspace of a tab whose URL has none, such as one of the instance's pages. */
export function setWorkspace(id: string): void {
  workspace_id ??= id;
}

/** Returns the URL of a path within this tab's workspace. */
export function inWorkspace(path: string): string {
  return workspace_id === null ? path : `/w/${workspace_id}${path}`;
}
