import type { Call } from '../programs/call.js';
import type { Program } from '../programs/process-table.js';
import type { Elsewhere } from '../protocol/events.js';
import type { Placement } from './placement.js';

/** Other gateways have run the program's last calls: its home is theirs, and the thread's context is there. */
export function adopt(
  call: Call,
  { home, contextTokens }: Elsewhere,
  { engineTable }: Pick<Placement, 'engineTable'>,
): void {
  const engine = home === undefined ? undefined : engineTable.engines.get(home);
  if (engine?.state !== 'up') return;
  call.program.bind(engine);
  if (contextTokens !== undefined) engine.workingSet.adopt(call, contextTokens);
}

export function handOver(program: Program, placement: Pick<Placement, 'engineTable' | 'recounted'>): void {
  for (const engine of placement.engineTable.engines.values())
    placement.recounted(engine, engine.workingSet.handOver(program));
}

export function takeBack(call: Call, placement: Pick<Placement, 'engineTable' | 'recounted'>): void {
  for (const engine of placement.engineTable.engines.values()) {
    const root = engine.workingSet.takeBack(call);
    if (root !== undefined) placement.recounted(engine, [root]);
  }
}
