/** Characters of the longest answer that is remembered. */
const CHARS_MAX = 4_194_304;

/** Bounds the parts of a streamed answer that are kept: none if they are not wanted, none further once they are too long. */
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
