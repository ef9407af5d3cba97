export * from './units.js';
export * from './events.js';
