/** How the image and the units in deploy/systemd start Node, which decides how much memory a process takes. */
export const SHIPPED_FLAGS = ['--max-semi-space-size=32'] as const;
export const SHIPPED_ENV = { NODE_ENV: 'production', MALLOC_MMAP_THRESHOLD_: '1048576' } as const;
