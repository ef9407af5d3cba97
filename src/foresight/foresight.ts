import type { SchedulerConfig } from '../config.js';
import type { Call } from '../programs/call.js';
import { Recent } from '../programs/recent.js';
import type { Work } from '../protocol/events.js';
import type { TenantId } from '../protocol/units.js';
import { Calibration } from './calibration.js';
import { Outlook } from './outlook.js';

type Settings = Pick<SchedulerConfig['policy'], 'foresight' | 'msPerPromptToken' | 'msPerOutputToken'>;

/** The work to come that clients declare, as far as their earlier declarations have proved right. */
export class Foresight {
  readonly #declarations = new Recent<TenantId, Calibration>(() => new Calibration());

  arrived(call: Call, remaining: Work | undefined, settings: Settings): void {
    const { program } = call;
    if (settings.foresight === 'none') {
      // Observations from before a reload are soon out of date.
      program.outlook = undefined;
      return;
    }
    program.outlook ??= new Outlook(this.#declarations.get(program.tenant));
    if (remaining !== undefined) {
      const { promptTokens, outputTokens } = remaining;
      const declaredMs = promptTokens * settings.msPerPromptToken + outputTokens * settings.msPerOutputToken;
      if (Number.isFinite(declaredMs)) program.outlook.declare(declaredMs, program.serviceMs);
    }
    const leftMs = program.outlook.declaredMs(program.serviceMs);
    call.expectedTotalMs = leftMs === undefined ? 0 : program.serviceMs + leftMs;
  }
}
