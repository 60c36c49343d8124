declare module '@fontsource-variable/geist';
declare module '@fontsource-variable/geist-mono';
