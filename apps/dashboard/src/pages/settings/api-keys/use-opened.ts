import { useNavigate } from '@tanstack/react-router';

interface Opened {
  readonly open?: 'new';
  readonly rotate?: string;
  readonly revoke?: string;
}

/** The open dialog is in the URL; a secret never is. */
export function useOpened() {
  const navigate = useNavigate({ from: '/settings/api-keys' });
  return {
    open: (dialog: Opened) => void navigate({ search: ({ gone }) => ({ ...(gone && { gone }), ...dialog }) }),
    close: () => void navigate({ search: ({ gone }) => (gone ? { gone } : {}), replace: true }),
    showGone: (gone: boolean) => void navigate({ search: gone ? { gone } : {}, replace: true }),
  };
}
