/** Four programs of three calls each on one engine, in virtual time: the scheduler without a gateway (src/README.md). */
import { Scheduler, callId, defaults, engineId, millis, modelId, programId, tenantId, tokens } from 'maitred';
import { makeBalancer } from 'maitred/loadbalancer';

const scheduler = new Scheduler(defaults, makeBalancer());
const agenda = [];
let wakeMs = Infinity;
const at = (ms, event) => agenda.push({ ms, event });
const arrival = (program, index) => ({
  type: 'callArrived',
  call: callId(`${program}.${index}`),
  program: programId(program),
  tenant: tenantId('me'),
  thread: '',
  model: modelId('m'),
  promptTokens: tokens(500 + 200 * index),
});

at(0, { type: 'engineJoined', engine: engineId('gpu-1'), models: [modelId('m')], windowMax: 2 });
for (const program of ['a', 'b', 'c', 'd']) at(0, arrival(program, 0));
while (agenda.length > 0) {
  agenda.sort((x, y) => x.ms - y.ms);
  const { ms, event } = wakeMs < agenda[0].ms ? { ms: wakeMs, event: { type: 'woke' } } : agenda.shift();
  if (event.type === 'woke') wakeMs = Infinity;
  for (const command of scheduler.step(event, millis(ms))) {
    if (command.type === 'wakeAt') wakeMs = command.at;
    if (command.type === 'reject') console.log(`${ms} ms: ${command.call} refused, ${command.refusal}`);
    if (command.type !== 'dispatch') continue;
    console.log(`${ms} ms: ${command.call} runs on ${command.engine} after ${command.queueMs} ms in the queue`);
    const [program, index] = command.call.split('.');
    at(ms + 1000, { type: 'callFinished', call: command.call });
    if (index < 2) at(ms + 1300, arrival(program, Number(index) + 1)); // its tool takes 300 ms
  }
}
