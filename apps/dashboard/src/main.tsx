import '@fontsource-variable/geist';
import '@fontsource-variable/geist-mono';
import './style/tokens.css';
import './style/elements.css';
import './style/shell.css';
import './style/parts.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { startPolling } from './api/polled.ts';
import { watchReleases } from './api/release.ts';
import { queries } from './api/trpc.ts';
import { router } from './router.ts';
import { listenForPalette } from './shell/palette/palette-keys.ts';

listenForPalette();
watchReleases();
startPolling();
const place = document.getElementById('app');
if (!place) throw new Error('index.html has no element #app');
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
