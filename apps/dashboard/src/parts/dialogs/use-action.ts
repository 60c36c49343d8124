import { useNavigate, useSearch } from '@tanstack/react-router';

/** Stores an action's dialog in the URL of the page or drawer that shows its target. */
export function useAction() {
  const { action } = useSearch({ strict: false });
  const navigate = useNavigate();
  return {
    action,
    open: (name: NonNullable<typeof action>) =>
      void navigate({ to: '.', search: (search) => ({ ...search, action: name }) }),
    close: () => void navigate({ to: '.', search: ({ action: _, ...search }) => search, replace: true }),
  };
}
