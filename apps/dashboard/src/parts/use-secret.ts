import { useRef, useState } from 'react';

interface Attempt<T> {
  readonly busy: boolean;
  readonly error: unknown;
  readonly made: T | null;
  run(call: () => Promise<T>): void;
}

/**
 * Holds a secret in the state of its dialog only: it never enters the query or mutation cache, and is dropped when the
 * dialog closes.
 */
export function useSecret<T>(): Attempt<T> {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [made, setMade] = useState<T | null>(null);
  // Set before the next render, so that a double click creates one key.
  const running = useRef(false);
  return {
    busy,
    error,
    made,
    run(call) {
      if (running.current) return;
      running.current = true;
      setBusy(true);
      setError(null);
      call()
        .then(setMade, setError)
        .finally(() => {
          running.current = false;
          setBusy(false);
        });
    },
  };
}
