import type { Engine } from '../sidecar/admin/answers.js';
import { Command } from './command.js';
import { Bar, Facts, type Fact } from './figures.js';
import { brief, count, duration, percent, tokens } from './format.js';
import { Whole } from './names.js';
import { engines, show } from './state.js';

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
  const { id, state, rest_tokens: rest, capacity_tokens: capacity, gate_tokens: gate } = engine;
  const { in_flight: inFlight, window, working_set_tokens: workingSet } = engine.all_gateways ?? engine;
  const isOff = state === 'down' || state === 'starting' || (state === 'drained' && inFlight === 0);
  const isAway = state === 'draining' || state === 'drained';
  const look = engine.failing && !isOff && !isAway ? 'down' : state;
  const limit = rest ?? capacity;
  const named = rest === null ? 'KV cache' : rest === gate ? 'gate' : 'gate and host';
  const [word, verb] = isAway ? ['Return to service', 'undrain'] : ['Drain', 'drain'];
  return (
    <li class="card">
      <h3>
        <button
          type="button"
          class="link"
          title={`Only programs on ${id}`}
          onClick={() => show({ engine: id, page: '' })}
        >
          <Whole text={id} />
        </button>
        <span class="quiet">{engine.kind}</span>
        <span class={`badge ${look}`}>{look === state ? state : 'fails calls'}</span>
      </h3>
      <p class={engine.resting ? 'warn' : look === 'up' ? 'quiet' : look}>{engine.text}</p>
      {(!isOff || inFlight > 0) && (
        <Bar
          label="In flight"
          text={`${inFlight}${window !== null ? ` of ${window}` : isAway || isOff ? '' : ', no limit'}`}
          value={inFlight}
          max={window}
        />
      )}
      {!isOff && (
        <Bar
          label="Working set"
          title="Contexts of calls in flight, and of programs that are expected to return. The bound is checked when a call starts; answers may outgrow it"
          text={
            limit === null
              ? `${tokens(workingSet)}, capacity unknown`
              : `${tokens(workingSet)} of ${tokens(limit)} (${named})`
          }
          value={workingSet}
          max={limit}
        />
      )}
      <div class="foot">
        <Facts style="facts" facts={isOff ? [] : factsOf(engine)} />
        <Command
          path={`/engines/${encodeURIComponent(id)}/${verb}`}
          label={`${word}: ${id}`}
          {...(verb === 'drain' && {
            question: `Drain ${brief(id, 80)}? ${isOff ? 'It gets no calls when it is back.' : 'Its running calls finish, and it gets no new ones.'}`,
          })}
        >
          {word}
        </Command>
      </div>
    </li>
  );
}

function factsOf(engine: Engine) {
  const { cached_share: cached, host_tokens: host, on_host_tokens: onHost, engine_waiting: waiting } = engine;
  const { p50, p99 } = engine.first_token_seconds;
  const facts: Fact[] = [
    ['Cached', percent(cached), 'Share of prompt tokens from the cache, last 5 minutes'],
    ['First token', duration(p50), `Median from dispatch on, p99 ${duration(p99)}, streamed calls, last 5 minutes`],
  ];
  if (host > 0)
    facts.push([
      'On the host',
      `${tokens(onHost)} of ${tokens(host)}`,
      'Contexts that have left the KV cache for host memory, estimated',
    ]);
  if (waiting)
    facts.push(['Waiting inside', count(waiting), 'Requests that wait inside the engine, by its own report']);
  return facts;
}
