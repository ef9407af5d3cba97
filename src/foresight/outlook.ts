import type { Calibration } from './calibration.js';

/** Work declared for the rest of a program, and the program's service at that time. */
interface Declaration {
  readonly declaredMs: number;
  readonly serviceMs: number;
}

/** The rest of one program by its own declarations, as right as its tenant's have been. */
export class Outlook {
  #first: Declaration | undefined;
  #last: Declaration | undefined;
  /** Whether its declaration has been judged by its service so far. */
  #isCalibrated = false;

  /** @param declarations how right its tenant's declarations are */
  constructor(private readonly declarations: Calibration) {}

  /** The client declares the rest of the program; a later declaration replaces an earlier one. */
  declare(declaredMs: number, serviceMs: number): void {
    this.#last = { declaredMs, serviceMs };
    this.#first ??= this.#last;
  }

  /**
   * The rest by the first declaration, or by the last if that is more. Only the first is judged: by declaring a small rest
   * anew with each call, a client would gain otherwise. A program that has outlived both counts as one without:
   * undefined.
   */
  declaredMs(serviceMs: number): number | undefined {
    const leftMs = Math.max(this.#leftMs(this.#first, serviceMs), this.#leftMs(this.#last, serviceMs));
    return leftMs > 0 ? leftMs : undefined;
  }

  /** The program is presumed to have ended: judges its declaration, unless that is to wait for its real end. */
  presumedEnded(serviceMs: number): void {
    if (this.#first === undefined) return;
    this.declarations.presumedEnded();
    if (this.declarations.trustsPresumedEnds) this.#calibrate(this.#first, serviceMs);
  }

  revived(): void {
    if (this.#first !== undefined) this.declarations.revived();
    this.#isCalibrated = false;
  }

  /** The program has ended: judges its declaration, unless that has been. */
  ended(serviceMs: number): void {
    if (this.#first !== undefined && !this.#isCalibrated) this.#calibrate(this.#first, serviceMs);
  }

  #calibrate({ declaredMs, serviceMs: fromMs }: Declaration, serviceMs: number): void {
    this.declarations.learn(declaredMs, serviceMs - fromMs);
    this.#isCalibrated = true;
  }

  #leftMs(declaration: Declaration | undefined, serviceMs: number): number {
    if (declaration === undefined) return 0;
    const expectedMs = this.declarations.expectedMs(declaration.declaredMs) ?? 0;
    return expectedMs - (serviceMs - declaration.serviceMs);
  }
}
