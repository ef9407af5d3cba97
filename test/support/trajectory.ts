/** A mini-swe-agent recording of one program: the answers of its calls, `created` at this interval in seconds. */
export function trajectory(id: string, answers: readonly string[], seconds = 5) {
  const messages: Record<string, unknown>[] = [
    { role: 'system', content: 'You are an agent.' },
    { role: 'user', content: `Task of ${id}` },
  ];
  answers.forEach((content, index) => {
    const response = { created: 1_700_000_000 + index * seconds, usage: { completion_tokens: 20 + index } };
    messages.push({ role: 'assistant', content, extra: { response } });
    messages.push({ role: 'user', content: `Output ${index} of ${id}` });
  });
  return { instance_id: id, messages };
}

export const jsonLines = (values: readonly unknown[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join('');
