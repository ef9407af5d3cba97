/**
 * `npm run trust`: how far the simulator agrees with what others measured and simulated, as the tables of docs/TRUST.md.
 * - `published.ts`: step times that others published; `kernels.py` prints those of the kernels.
 * - `steps.ts`: the errors of the presets against them.
 * - `policies.ts`: our policies on loads like AgentServeSim's, and its published figures.
 */
import { writePage } from './page.js';

await writePage();
