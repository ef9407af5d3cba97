/** Random ids as W3C's trace context wants them: unique, not secret, and not all zero. */
const word = (): string => Math.floor(Math.random() * 0x1_0000_0000).toString(16).padStart(8, '0'); // prettier-ignore

export const newTraceId = (): string => notZero(() => word() + word() + word() + word());
export const newSpanId = (): string => notZero(() => word() + word());

function notZero(make: () => string): string {
  let id = make();
  while (/^0+$/.test(id)) id = make();
  return id;
}
