/* Remedies that several findings share. */
export const NOT_ENGINE = 'correct engines[].url: it is the address where the engine’s /v1/models answers';
export const SET_CAPACITY = 'set engines[].capacityTokens to the size that the engine’s own log tells';
export const SET_GATE = 'leave admission.gate out, unless programs end faster without it';
export const SET_MODELS = 'correct engines[].models, or leave it out: calls for a model that it lacks fail';

export interface Finding {
  /** `broken`: calls will fail. `warning`: they run worse than they could, or less safely. `note`: for information. */
  readonly level: 'ok' | 'note' | 'warning' | 'broken';
  readonly subject: string;
  readonly found: string;
  readonly advice?: string | undefined;
  /** Lines of a file around the fault. */
  readonly excerpt?: readonly string[] | undefined;
}

const of =
  (level: Finding['level']) =>
  (subject: string, found: string, advice?: string): Finding => ({ level, subject, found, advice });

export const when = (applies: boolean, finding: Finding): Finding[] => (applies ? [finding] : []);

export const ok = of('ok');
export const note = of('note');
export const warning = of('warning');
export const broken = of('broken');
