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
    open: (search: Opened) => void navigate({ search }),
    close: () => void navigate({ search: {}, replace: true }),
  };
}
