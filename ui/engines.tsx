import type { Engine } from '../sidecar/admin/answers.js';
import { Command } from './command.js';
import { Bar } from './bar.js';
import { brief, count, percent, tokens } from './format.js';
import { engines, show } from './state.js';
import { engineWords } from './words.js';

export function Engines() {
  const list = engines.value?.engines ?? [];
  return (
    <section aria-labelledby="engines">
      <h2 id="engines">Engines</h2>
      {list.length === 0 && <p class="quiet">There is no engine.</p>}
      <ul class="cards">
        {list.map((engine) => (
          <Card key={engine.id} engine={engine} />
        ))}
      </ul>
    </section>
  );
}

function Card({ engine }: { readonly engine: Engine }) {
  const { open, text } = engineWords(engine);
  const { rest_tokens: rest, capacity_tokens: capacity } = engine;
  const { in_flight: inFlight, window, working_set_tokens: workingSet } = engine.all_gateways ?? engine;
  const limit = rest ?? capacity;
  const named = rest === null ? 'KV cache' : rest === engine.gate_tokens ? 'gate' : 'gate and host';
  return (
    <li class="card">
      <h3>
        <button
          type="button"
          class="link"
          title={`Only programs on ${engine.id}`}
          onClick={() => show({ engine: engine.id })}
        >
          {brief(engine.id, 40)}
        </button>
        <span class={`badge ${engine.state}`}>{engine.state}</span>
      </h3>
      <p class={open ? 'quiet' : 'warn'}>{text}</p>
      <Bar
        label="In flight"
        text={window === null ? `${inFlight}, no limit` : `${inFlight} of ${window}`}
        value={inFlight}
        max={window}
      />
      <Bar
        label="Working set"
        title="Contexts of calls in flight, and of programs that are expected to return"
        text={
          limit === null
            ? `${tokens(workingSet)}, capacity unknown`
            : `${tokens(workingSet)} of ${tokens(limit)} (${named})`
        }
        value={workingSet}
        max={limit}
      />
      <Facts engine={engine} />
      <Drain engine={engine} />
    </li>
  );
}

function Facts({ engine }: { readonly engine: Engine }) {
  return (
    <dl class="facts">
      <div>
        <dt>Capacity</dt>
        <dd>{engine.capacity_tokens === null ? '–' : tokens(engine.capacity_tokens)}</dd>
      </div>
      {engine.host_tokens > 0 && (
        <div>
          <dt title="Contexts that have left the KV cache for host memory, estimated">On the host</dt>
          <dd>{`${tokens(engine.on_host_tokens)} of ${tokens(engine.host_tokens)}`}</dd>
        </div>
      )}
      <div>
        <dt title="Contexts of the working set whose programs are at their tools, kept for their return">Idle</dt>
        <dd>{tokens(engine.idle_tokens)}</dd>
      </div>
      <div>
        <dt title="Share of prompt tokens from the cache, last 5 minutes">Cached</dt>
        <dd>{percent(engine.cached_share)}</dd>
      </div>
      <div>
        <dt title="Requests that wait inside the engine, by its own report">Queued in the engine</dt>
        <dd>{engine.engine_waiting === null ? '–' : count(engine.engine_waiting)}</dd>
      </div>
      <div>
        <dt>Kind</dt>
        <dd>{engine.kind}</dd>
      </div>
    </dl>
  );
}

function Drain({ engine: { id, state } }: { readonly engine: Engine }) {
  const [word, verb] = state === 'draining' ? ['Return to service', 'undrain'] : ['Drain', 'drain'];
  return (
    <p class="drain">
      <Command path={`/engines/${encodeURIComponent(id)}/${verb}`} label={`${word}: ${id}`}>
        {word}
      </Command>
    </p>
  );
}
