import { stringify } from 'yaml';
import { AXES, type Values } from './axes.js';
import { KEYS } from './scheduling.js';

/** The values as lines of the gateway's YAML file. */
export function fragmentOf(values: Values): string[] {
  const sections: Record<string, Record<string, unknown>> = {};
  for (const axis of AXES) {
    if (!(axis in KEYS) || values[axis] === undefined) continue;
    const [section = '', key = ''] = KEYS[axis as keyof typeof KEYS].split('.');
    sections[section] = { ...sections[section], [key]: values[axis] };
  }
  return stringify(sections).trimEnd().split('\n');
}
