/**
 * Replaces @radix-ui/react-dialog, which cmdk imports for Command.Dialog alone. The palette uses a native dialog, so
 * that part never renders.
 */
export { Fragment as Content, Fragment as Overlay, Fragment as Portal, Fragment as Root } from 'react';
