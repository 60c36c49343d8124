const STORAGE_KEY = 'postrider.workspace';

/**
 * The workspace of this tab, from its URL. It stays the same until another page load, so that nothing of one workspace
 * can appear under the name of another.
 */
let workspace_id = /^\/w\/([^/]+)/.exec(location.pathname)?.[1] ?? readKept();
keep();

/** The instance's pages have no workspace in their URL, so that of the tab is kept for a reload. */
function readKept(): string | null {
  try {
    return sessionStorage.getItem(STORAGE_KEY);
  } catch {
    return null;
  }
}

function keep(): void {
  try {
    if (workspace_id !== null) sessionStorage.setItem(STORAGE_KEY, workspace_id);
  } catch {
    // If storage is blocked, a reload of an instance page uses the default workspace.
  }
}

/** Sets the workspace of a tab whose URL has none, such as one of the instance's pages. */
export function setWorkspace(id: string): void {
  workspace_id ??= id;
  keep();
}

/** Returns the URL of a path within this tab's workspace. */
export function inWorkspace(path: string): string {
  return workspace_id === null ? path : `/w/${workspace_id}${path}`;
}
