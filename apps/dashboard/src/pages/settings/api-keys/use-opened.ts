import { useNavigate } from '@tanstack/react-router';

interface OpenDialog {
  readonly open?: 'new';
  readonly rotate?: string;
  readonly revoke?: string;
}

/** Stores the open dialog in the URL, but never a secret. */
export function useOpened() {
  const navigate = useNavigate({ from: '/settings/api-keys' });
  return {
    open: (dialog: OpenDialog) =>
      void navigate({
        search: ({ gone: show_inactive }) => ({ ...(show_inactive && { gone: show_inactive }), ...dialog }),
      }),
    close: () =>
      void navigate({
        search: ({ gone: show_inactive }) => (show_inactive ? { gone: show_inactive } : {}),
        replace: true,
      }),
    showGone: (show_inactive: boolean) =>
      void navigate({ search: show_inactive ? { gone: show_inactive } : {}, replace: true }),
  };
}
