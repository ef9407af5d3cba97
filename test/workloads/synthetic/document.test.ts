import { expect, it } from 'vitest';
import { ROOT } from '../../support/tree.js';
import { renderWorkloadsDocument } from '../../support/workloads-document.js';

it('docs/WORKLOADS.md is what the schema and the workloads say (npm run docs writes it anew)', async () => {
  await expect(renderWorkloadsDocument()).toMatchFileSnapshot(`${ROOT}docs/WORKLOADS.md`);
});
