/**
 * The live gateway: HTTP in, HTTP out, and the scheduler in between.
 *
 * Reading guide, three files to start with:
 *   calls/accept.ts    a request becomes a call: read, checked, identified, handed over
 *   calls/call.ts      one call's life, from the queue over its engines to its end; `observers.ts`: who hears of it
 *   driver.ts          the scheduler in real time: one clock, one timer, commands to calls
 * The others, as needed:
 *   routes.ts          all paths
 *   unscheduled/       requests that bypass the queues
 *   bodies/            request bodies, read within bounds
 *   http/              bytes, headers, keys, events and errors on the wire
 *   apis/              the bodies of OpenAI and Anthropic
 *   identity/          which program does a call belong to?
 *   batches/           files and batches, kept on the disk: `batches.ts` first
 *   engines/           the replicas
 *   discovery/         which replicas there are: `membership.ts` first
 *   cluster/           state shared by gateways, loaded only when on: `open.ts` first
 *   gateway.ts         start, reload, drain, close
 *   admin/, metrics/   the operators' view
 *   tracing/           spans for an OpenTelemetry collector, loaded only when on
 *   watch/             their views over time: ended calls, totals, the stream
 *   config/            the configuration
 *   recording/         the event log
 */
export { startGateway } from './gateway.js';
export type { Gateway } from './gateway.js';
export type { Demo, GatewayOptions, Shadow } from './context.js';
