/** The version in package.json; a test keeps them equal. */
export const SDK_VERSION = '1.0.0';
