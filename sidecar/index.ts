/**
 * The live gateway: HTTP in, HTTP out, and the scheduler in between.
 *
 * Reading guide, three files to start with:
 *   accept.ts          a request becomes a call: read, checked, identified, handed over
 *   calls/call.ts      one call's life, from the queue over its engines to its end
 *   driver.ts          the scheduler in real time: one clock, one timer, commands to calls
 * then, as needed: routes.ts (every path), passthrough.ts (requests that are not scheduled), bodies/ (request bodies, read
 * within bounds), http/ (bytes, headers, events, errors on the wire), gateway.ts (start, reload, drain, close), admin/ and
 * metrics/ (the operators' view), apis/ (the bodies of OpenAI and Anthropic), identity/ (which program?), engines/ (the
 * replicas), config/, record.ts (the event log).
 */
export { startGateway } from './gateway.js';
export type { Gateway } from './gateway.js';
export type { GatewayOptions } from './assemble.js';
