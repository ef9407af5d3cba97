import { expect, it } from 'vitest';
import { Calibration } from '../../../src/foresight/calibration.js';
import { Outlook } from '../../../src/foresight/outlook.js';

it('a declaration is judged once: at the presumed end of its program, and not again at the real one', () => {
  const declarations = new Calibration();
  const isTrustedAfter = (programs: number): boolean => {
    for (let program = 0; program < programs; program += 1) {
      const outlook = new Outlook(declarations);
      outlook.declare(1_000 << program, 0);
      outlook.presumedEnded(1_000 << program);
      outlook.ended(1_000 << program);
    }
    return declarations.expectedMs(1_000) !== undefined;
  };
  expect([isTrustedAfter(7), isTrustedAfter(1)]).toEqual([false, true]);
});
