declare module '@fontsource-variable/geist';
declare module '@fontsource-variable/geist-mono';

interface ImportMetaEnv {
  /** The hash of the sources of this build. */
  readonly RELEASE: string;
}
