/** Text for people: figures, tables for a terminal, and untrusted names made harmless. Meanings of figures stay out. */
export { compact, counted, integer, number, percent, ratio, span } from './figures.js';
export { factsOf } from './facts.js';
export { brief, plain } from './plain.js';
export { PLAIN, reasonOf } from './reason.js';
export { type ColumnGroup, leftAligned, tableWidth, textTable } from './text-table.js';
