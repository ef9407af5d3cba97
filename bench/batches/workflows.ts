import { makeRandom } from '../numbers.js';

/**
 * Helium's agent workflows (its section 6) as files of lines: five patterns, and the trading one that combines them. A
 * query is one run of the workflow; all queries share instructions, and some share a document.
 */
export interface Workflow {
  readonly name: string;
  readonly queries: number;
  /** The lines of one query. @param doc the text of its document @param question its own text */
  readonly linesOf: (doc: string, question: string) => readonly Step[];
  /** Queries with the same document. */
  readonly perDocument: number;
}

/** A call: the operator that it is of, its instructions, its text with `${...}` for answers, its needs, its answer's size. */
export interface Step {
  readonly operator: string;
  readonly system: string;
  readonly text: string;
  readonly needs?: readonly string[];
  readonly outputTokens: number;
}

const CHARS_PER_TOKEN = 4;
const WORDS = 'market value report growth risk margin signal trend price order rate supply demand cost cash bond index share gain loss'.split(' '); // prettier-ignore

/** Text of about this many tokens, the same for the same name. */
export function textOf(name: string, tokens: number): string {
  let seed = 7;
  for (const char of name) seed = (Math.imul(seed, 31) + char.charCodeAt(0)) >>> 0;
  const random = makeRandom(seed);
  let text = `${name}: `;
  while (text.length < tokens * CHARS_PER_TOKEN) text += `${WORDS[Math.floor(random() * WORDS.length)] ?? ''} `;
  return text.slice(0, tokens * CHARS_PER_TOKEN);
}

const role = (name: string): string => textOf(`You are the ${name}`, 400);
const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const all = (ids: readonly string[]): string => ids.map((id) => `\${${id}}`).join('\n');

const experts = (count: number, doc: string, question: string, outputTokens = 150): Step[] =>
  range(count).map((at) => ({
    operator: `expert${at}`,
    system: role(`expert ${at}`),
    text: doc + question,
    outputTokens,
  }));

const join = (operator: string, needs: readonly string[], before = '', outputTokens = 200): Step => ({
  operator,
  system: role(operator),
  text: before + all(needs),
  needs,
  outputTokens,
});

/** Agents that answer the same question, and then twice more with all answers before them. */
function debate(doc: string, question: string, agents = 3, rounds = 2): Step[] {
  const steps: Step[] = range(agents).map((at) => ({ operator: `agent${at}r0`, system: role('debater'), text: `${doc}${question} As agent ${at}.`, outputTokens: 150 })); // prettier-ignore
  for (const round of range(rounds))
    for (const at of range(agents)) {
      const needs = range(agents).map((other) => `agent${other}r${round}`);
      steps.push({
        ...join(`agent${at}r${round + 1}`, needs, `${doc}${question} As agent ${at}. `),
        system: role('debater'),
      });
    }
  return steps;
}

const last = (steps: readonly Step[], count: number): string[] => steps.slice(-count).map(({ operator }) => operator);

function trading(doc: string, question: string): Step[] {
  const analysts = experts(4, doc, question);
  const research = debate(textOf('market news of the day', 800), question).map((step) => ({
    ...step,
    text: `${step.text}${all(last(analysts, 4))}`,
    needs: [...(step.needs ?? []), ...last(analysts, 4)],
  }));
  const views = last(research, 3);
  const risks = range(3).map((at) => join(`risk${at}`, [...views, 'trader'], doc));
  return [...analysts, ...research, join('trader', views, doc), ...risks, join('manager', last(risks, 3))];
}

export const WORKFLOWS: readonly Workflow[] = [
  { name: 'map-reduce', queries: 100, perDocument: 6, linesOf: (doc, question) => [...experts(7, doc, question), join('summary', last(experts(7, doc, question), 7))] }, // prettier-ignore
  { name: 'debate', queries: 100, perDocument: 6, linesOf: (doc, question) => debate(doc, question) },
  { name: 'reflection', queries: 100, perDocument: 6, linesOf: (doc, question) => [...experts(1, doc, question), join('critic0', ['expert0'], doc + question), join('critic1', ['expert0'], doc + question), join('final', ['expert0', 'critic0', 'critic1'], doc + question)] }, // prettier-ignore
  { name: 'iterative', queries: 100, perDocument: 1, linesOf: (_, question) => range(4).map((at) => ({ operator: `part${at}`, system: role('summariser'), text: `${at === 0 ? '' : `\${part${at - 1}}`}${textOf(`${question}${at}`, 600)}`, needs: at === 0 ? [] : [`part${at - 1}`], outputTokens: 200 })) }, // prettier-ignore
  { name: 'parallel', queries: 100, perDocument: 1, linesOf: (_, question) => [...range(5).map((at) => ({ operator: `extract${at}`, system: role(`reader ${at}`), text: textOf(`${question}${at}`, 500), outputTokens: 150 })), join('writer', range(5).map((at) => `extract${at}`))] }, // prettier-ignore
  { name: 'trading', queries: 32, perDocument: 2, linesOf: trading },
];

/** A line as the file has it, with the query and the operator that it is of. */
export interface FileLine {
  readonly text: string;
  readonly customId: string;
  readonly query: number;
  readonly operator: string;
  readonly outputTokens: number;
}

/** The file of a workflow: query by query, as pipelines write it, with questions in the order of a random sample. */
export function fileOf({ queries, perDocument, linesOf }: Workflow): FileLine[] {
  const random = makeRandom(queries);
  const sampled = range(queries)
    .map((query) => [random(), query] as const)
    .sort(([a], [b]) => a - b);
  return sampled.flatMap(([, query]) => {
    const name = (operator: string): string => `q${query}.${operator}`;
    const doc = textOf(`document ${Math.floor(query / perDocument)}`, 1200);
    return linesOf(doc, textOf(`question ${query}`, 60)).map(({ operator, system, text, needs = [], outputTokens }) => {
      const content = text.replace(/\$\{(\w+)\}/g, (_, need: string) => `\${${name(need)}}`);
      const body = { model: 'm', max_tokens: outputTokens, messages: [{ role: 'system', content: system }, { role: 'user', content }] }; // prettier-ignore
      const line = {
        custom_id: name(operator),
        method: 'POST',
        url: '/v1/chat/completions',
        body,
        after: needs.map(name),
      };
      return { text: JSON.stringify(line), customId: name(operator), query, operator, outputTokens };
    });
  });
}
