import { useNavigate } from '@tanstack/react-router';

interface Opened {
  readonly open?: 'new';
  readonly rotate?: string;
  readonly revoke?: string;
}

/** The dialog of this page stands in its address, never a secret. */
export function useOpened() {
  const navigate = useNavigate({ from: '/settings/api-keys' });
  return {
    open: (search: Opened) => void navigate({ search }),
    close: () => void navigate({ search: {}, replace: true }),
  };
}
