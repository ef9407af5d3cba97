/** Characters of the longest answer that is remembered. */
const CHARS_MAX = 4_194_304;

/** Parts of a streamed answer kept for history matching. Empty if the answer is not wanted or grows too long. */
export class Kept {
  wanted: boolean;
  #chars = 0;

  constructor(wanted: boolean) {
    this.wanted = wanted;
  }

  keep(pieces: string[], piece: string): void {
    if (!this.wanted || piece === '') return;
    this.#chars += piece.length;
    if (this.#chars > CHARS_MAX) this.wanted = false;
    else pieces.push(piece);
  }
}
