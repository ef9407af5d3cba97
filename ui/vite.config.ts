import { defineConfig } from 'vite';

/** `npm run build` puts the page into dist/ui, from where the gateway serves it under /ui. */
export default defineConfig({
  root: import.meta.dirname,
  base: '/ui/',
  build: {
    outDir: '../dist/ui',
    emptyOutDir: true,
    target: 'es2022',
    // The policy of the page forbids what is inline.
    assetsInlineLimit: 0,
    modulePreload: false,
    // A slow machine is no reason for a warning.
    rolldownOptions: { checks: { bundlerTimings: false } },
  },
  logLevel: 'warn',
});
