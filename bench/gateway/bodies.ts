export const MODEL = 'bench';
export const PATH = '/v1/chat/completions';
export const HEADERS = { 'content-type': 'application/json' };
const WORDS = `the a of to and in is that for with run test file error line module import return value expect function
  class path open read write commit branch build token queue engine call program (self, None) == {} [] "ok" \\n`.split(
  /\s+/,
);

/** Text of `length` characters like that of a coding agent. */
export function prose(random: () => number, length: number): string {
  let text = '';
  while (text.length < length) text += `${WORDS[Math.floor(random() * WORDS.length)]}${random() < 0.1 ? '\n' : ' '}`;
  return text.slice(0, length);
}
