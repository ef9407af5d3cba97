import { ProgramRun } from '../sim/index.js';
import { type AgentProgram, callAt } from '../workloads/index.js';
import { Conversations, type Prompt } from './conversation.js';
import type { Exchange, Outcome } from './exchange.js';
import { idOf, marksOf, releaseOf } from './identity.js';
import type { Player } from './player.js';
import type { LoadCallRecord } from './load.js';
import { Timeline } from './timeline.js';

type Sent = Readonly<Record<'meantMs' | 'sentMs', number>> & { readonly prompt: Prompt };

/** Rounding error of a time in a header. */
const ROUNDED_MS = 1;

/** Plays the program on the player's target. Resolves when it has ended; never, once the player is stopped. */
export function playProgram(player: Player, program: AgentProgram, index: number, arrivedMs: number): Promise<void> {
  return new Promise((resolve) => {
    const play = new ProgramPlay(player, program, index, arrivedMs, () => {
      player.underWay.delete(play);
      resolve();
    });
    player.underWay.set(play, () => play.leave());
    play.begin();
  });
}

/**
 * One program on one target. A call is due when the last of its predecessors has ended and its gap is over. Its time
 * counts from then, however late it is sent.
 */
class ProgramPlay {
  readonly #run: ProgramRun;
  readonly #conversations: Conversations;
  readonly #timeline: Timeline;
  readonly #id: string;
  #hadFinal = false;

  constructor(
    private readonly player: Player,
    private readonly program: AgentProgram,
    private readonly index: number,
    arrivedMs: number,
    private readonly ended: () => void,
  ) {
    const { style, runId, index: target, options } = player.stage;
    this.#run = new ProgramRun(program, arrivedMs);
    this.#conversations = new Conversations(program, style);
    this.#timeline = new Timeline(program, arrivedMs);
    const id = idOf(runId, String(target), program.id);
    // Harnesses make UUIDs; a client that was told of maitred can name its programs so that people can read it.
    this.#id = options.identity === 'maitred' ? `${program.workload ?? 'program'}-${index + 1}-${id.slice(-6)}` : id;
  }

  begin(): void {
    for (const call of this.#run.opening()) this.#plan(call);
  }

  /** Its last call, if it was sent, has been broken off. */
  leave(): void {
    const release = releaseOf(this.player.stage.options.identity, this.#id, false);
    if (release !== undefined) this.player.release(release);
  }

  #plan(index: number): void {
    const { gapMsMax, timeScale } = this.player.stage.options;
    const gapMs = Math.min(callAt(this.program, index).gapMs, gapMsMax) / timeScale;
    const meantMs = this.#timeline.plan(index, gapMs);
    this.player.at(meantMs, () => this.player.whenFree(() => this.#send(index, meantMs)));
  }

  #send(index: number, meantMs: number): void {
    const { target, model, options, meter, now, isExact } = this.player.stage;
    const call = callAt(this.program, index);
    const prompt = this.#conversations.prompt(index);
    const { items, tools } = prompt;
    const isFinal = this.#run.open === 1;
    this.#hadFinal ||= isFinal;
    const marks = marksOf(options.identity, {
      program: this.#id,
      thread: call.thread,
      isFinal,
      workload: this.program.workload ?? '',
      call: idOf(this.#id, String(index)),
    });
    // An engine generates at least one token, even where a recording has none.
    const outputTokens = Math.max(1, call.outputTokens);
    const { stream } = options;
    const body = target.api.body({ model, items, tools, outputTokens, isExact, stream, fields: marks.body });
    const sentMs = now();
    this.#run.made();
    meter.sent(sentMs - meantMs);
    const exchange: Exchange = target.send(body, { headers: marks.headers }, (outcome) => {
      this.player.done(exchange);
      try {
        this.#answered(index, { meantMs, sentMs, prompt }, outcome);
      } catch (error) {
        // Thrown here, the error would end up in the connection's reader, and the program would never end.
        this.player.stage.fault(error);
      }
    });
    this.player.exchanges.add(exchange);
    this.player.sent += 1;
  }

  #answered(index: number, sent: Sent, outcome: Outcome): void {
    const record = this.#record(index, sent, outcome);
    this.#timeline.ended(index, record);
    this.player.answered(record);
    this.player.stage.observer.callEnded(record);
    if (record.outcome === 'completed') {
      this.#count(sent.prompt, outcome);
      this.#conversations.answered(index, { ...outcome.answer, outputTokens: record.outputTokens });
      for (const next of this.#run.completed(index, record.promptTokens, record.outputTokens)) this.#plan(next);
    } else this.#run.failed(index, record.outcome);
    if (this.#run.open === 0) this.#end();
  }

  #record(index: number, { meantMs, sentMs, prompt }: Sent, outcome: Outcome): LoadCallRecord {
    const { answer, gateway, firstTokenAt, endedAt } = outcome;
    const { now, index: target, run } = this.player.stage;
    const startedAt = performance.now() - now();
    const firstTokenMs = firstTokenAt - startedAt;
    const endedMs = endedAt - startedAt;
    const queueMs = queueMsOf(gateway.queueMs, endedMs - sentMs);
    const outputTokens = Number.isNaN(answer.outputTokens) ? answer.parts : answer.outputTokens;
    const wanted = prompt.promptTokens;
    const promptTokens = Number.isNaN(answer.promptTokens)
      ? Number.isNaN(wanted)
        ? callAt(this.program, index).promptTokens
        : wanted
      : answer.promptTokens;
    return {
      program: this.program.id,
      workload: this.program.workload ?? '',
      call: index,
      thread: callAt(this.program, index).thread,
      arrivedMs: meantMs,
      sentMs,
      dispatchedMs: sentMs + queueMs,
      firstTokenMs,
      endedMs,
      engine: gateway.engine,
      promptTokens,
      outputTokens,
      cachedTokens: answer.cachedTokens,
      outcome: outcome.outcome,
      detail: outcome.detail,
      target,
      run,
      queueMs,
    };
  }

  #count({ promptTokens }: Prompt, { answer }: Outcome): void {
    if (Number.isNaN(promptTokens) || Number.isNaN(answer.promptTokens)) return;
    this.player.promptTokensWanted += promptTokens;
    this.player.promptTokensCounted += answer.promptTokens;
  }

  #end(): void {
    const { observer, index, run, options, alone } = this.player.stage;
    const { endedMs, longestQueueMs, ...split } = this.#timeline.split();
    this.#run.longestQueueMs = longestQueueMs;
    const release = releaseOf(options.identity, this.#id, this.#hadFinal);
    if (release !== undefined) this.player.release(release);
    observer.programEnded({
      ...this.#run.record(endedMs, alone === undefined ? NaN : this.#timeline.aloneMs(alone)),
      target: index,
      run,
      index: this.index,
      ...split,
    });
    this.ended();
  }
}

/** The gateway's queueing time if plausible: not negative, and no longer than the call took. */
const queueMsOf = (ms: number, takenMs: number): number =>
  ms >= 0 && ms <= takenMs + ROUNDED_MS ? Math.min(ms, takenMs) : NaN;
